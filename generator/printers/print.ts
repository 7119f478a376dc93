/** Prints diagnostics for every command: located, sorted, in the format the user chose. */
import { locateAll, type Locatable } from "../diagnostics.js";
import type { Diagnostic, LocatedDiagnostic } from "../ir.js";
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

/** The diagnostics as text; the formats for programs always give a complete document, even for none. */
export function printDiagnostics(format: Format, diagnostics: readonly Diagnostic[], shown: Shown): string {
  const located = locateAll(diagnostics, shown.source);
  return format === "text" ? printText(located, shown) : printDocument(format, located);
}

/** Located diagnostics of any number of files as one document for programs, in the order given. */
export function printDocument(format: Exclude<Format, "text">, located: readonly LocatedDiagnostic[]): string {
  switch (format) {
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
