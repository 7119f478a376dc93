/** One way for every command to show diagnostics: located, sorted, in the format the user chose. */
import { locateAll, type Locatable } from "../diagnostics.js";
import type { Diagnostic } from "../ir.js";
import { printGithub } from "./github.js";
import { printJson } from "./json.js";
import { printSarif } from "./sarif.js";
import { printText } from "./text.js";

export const FORMATS = ["text", "json", "sarif", "github"] as const;
export type Format = (typeof FORMATS)[number];

export interface Shown {
  /** For positions; null when nothing could be parsed. */
  readonly source: Locatable | null;
  /** Text of the catalog, for code frames. */
  readonly text: string | null;
  readonly color: boolean;
}

/** The diagnostics as text; the formats for programs always yield a whole document, even for none. */
export function printDiagnostics(format: Format, diagnostics: readonly Diagnostic[], shown: Shown): string {
  const located = locateAll(diagnostics, shown.source);
  switch (format) {
    case "text":
      return printText(located, shown);
    case "json":
      return printJson(located);
    case "sarif":
      return printSarif(located);
    case "github":
      return printGithub(located);
    default:
      return format satisfies never;
  }
}

/** Whether a stream gets colours: a terminal, and NO_COLOR is not set. */
export function wantsColor(stream: { readonly isTTY: boolean }, env: { readonly [name: string]: string | undefined }): boolean {
  return stream.isTTY && (env["NO_COLOR"] ?? "") === "";
}
