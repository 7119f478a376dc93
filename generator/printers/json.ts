/** Diagnostics for programs: an array, one object each, keys in a fixed order, nulls kept. */
import type { LocatedDiagnostic } from "../ir.js";

/** The whole array as one JSON text with a newline at its end. */
export function printJson(diagnostics: readonly LocatedDiagnostic[]): string {
  const rows = diagnostics.map(({ severity, code, message, tool, path, line, column, file, help }) => ({
    severity, code, message, tool, path, line, column, file, help,
  }));
  return `${JSON.stringify(rows, null, 2)}\n`;
}
