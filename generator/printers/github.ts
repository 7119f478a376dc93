/** Diagnostics as workflow commands: GitHub shows them beside the lines of a pull request. */
import type { Severity } from "../../runtime/abi/codes.js";
import type { LocatedDiagnostic } from "../ir.js";

const COMMANDS: { readonly [S in Severity]: string } = { error: "error", warning: "warning", info: "notice" };

/** One command a line; "" for none. */
export function printGithub(diagnostics: readonly LocatedDiagnostic[]): string {
  return diagnostics.map(({ severity, code, message, help, file, line, column }) => {
    const place = line === null ? "" : `,line=${line},col=${column ?? 1}`;
    const text = help === null ? message : `${message}\n${help}`;
    return `::${COMMANDS[severity]} file=${property(file)}${place},title=${property(code)}::${data(text)}\n`;
  }).join("");
}

/** Characters that a command's text must escape. */
function data(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function property(text: string): string {
  return data(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}
