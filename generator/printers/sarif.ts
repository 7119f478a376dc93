/** Diagnostics as SARIF 2.1.0, for code scanning services. One run; each code that occurs is a rule. */
import { CODES, type CodeEntry, type Severity } from "../../runtime/abi/codes.js";
import type { LocatedDiagnostic } from "../ir.js";

const SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";
const LEVELS: { readonly [S in Severity]: string } = { error: "error", warning: "warning", info: "note" };

/** The whole log as one JSON text with a newline at its end. */
export function printSarif(diagnostics: readonly LocatedDiagnostic[]): string {
  const codes = [...new Set(diagnostics.map(({ code }) => code))].sort();
  const log = {
    $schema: SCHEMA,
    version: "2.1.0",
    runs: [{
      tool: { driver: { name: "toolsrv", rules: codes.map(ruleOf) } },
      columnKind: "utf16CodeUnits",
      results: diagnostics.map((diagnostic) => resultOf(diagnostic, codes.indexOf(diagnostic.code))),
    }],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

function ruleOf(code: string): object {
  const entry: CodeEntry | undefined = (CODES as { readonly [code: string]: CodeEntry })[code];
  const severity = typeof entry?.severity === "string" ? entry.severity : entry?.severity[0] ?? "error";
  return {
    id: code,
    shortDescription: { text: entry?.title ?? code },
    ...(entry?.help === undefined ? {} : { help: { text: entry.help } }),
    defaultConfiguration: { level: LEVELS[severity] },
  };
}

function resultOf({ code, severity, message, help, file, line, column, tool, path }: LocatedDiagnostic, ruleIndex: number): object {
  const names = [...(tool === null ? [] : [{ name: tool, kind: "function" }]), ...(path === null || path === "" ? [] : [{ fullyQualifiedName: path, kind: "member" }])];
  return {
    ruleId: code,
    ruleIndex,
    level: LEVELS[severity],
    message: { text: help === null ? message : `${message}. ${help}` },
    locations: [{
      physicalLocation: {
        artifactLocation: { uri: uriOf(file) },
        ...(line === null ? {} : { region: { startLine: line, startColumn: column ?? 1 } }),
      },
      ...(names.length === 0 ? {} : { logicalLocations: names }),
    }],
  };
}

/** The path as a relative reference; characters that a reference reserves are encoded. */
function uriOf(file: string): string {
  return file.split(/[\\/]/).map(encodeURIComponent).join("/");
}
