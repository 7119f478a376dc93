/** Diagnostics for people: one line each, the place in the file, and what to do. */
import type { Severity } from "../../runtime/abi/codes.js";
import type { LocatedDiagnostic } from "../ir.js";

export interface TextOptions {
  /** Text of the file that positions refer to; null when it could not be read. */
  readonly text: string | null;
  readonly color: boolean;
}

const COLORS: { readonly [S in Severity]: string } = { error: "\u001b[1;31m", warning: "\u001b[1;33m", info: "\u001b[1;36m" };
const DIM = "\u001b[2m";
const RESET = "\u001b[0m";
const MAX_WIDTH = 160;

/** `ERROR VB2001 search_movies: …` with a code frame and help below each; "" for none. */
export function printText(diagnostics: readonly LocatedDiagnostic[], { text, color }: TextOptions): string {
  const paint = (style: string, words: string): string => (color ? `${style}${words}${RESET}` : words);
  const lines = text === null ? [] : text.split(/\r\n|\n|\r/);
  return diagnostics.map((diagnostic) => {
    const { severity, code, tool, path, message, help, line, column, file } = diagnostic;
    const subject = tool ?? path;
    const head = `${paint(COLORS[severity], `${severity.toUpperCase()} ${code}`)}${subject === null ? "" : ` ${subject}`}: ${printable(message)}`;
    const place = line === null ? file : `${file}:${line}:${column ?? 1}`;
    const frame = line === null || column === null ? [] : codeFrame(lines, line, column);
    const advice = help === null ? [] : [`  = help: ${printable(help)}`];
    return [head, ...[`  --> ${place}`, ...frame].map((row) => paint(DIM, row)), ...advice, ""].join("\n");
  }).join("\n");
}

/** The line with a marker under the word at `column`; empty when the line does not exist. */
export function codeFrame(lines: readonly string[], line: number, column: number): readonly string[] {
  const source = lines[line - 1];
  if (source === undefined) return [];
  const start = Math.max(0, Math.min(column - 1, source.length) - (MAX_WIDTH - 40));
  const shown = printable(source.slice(start, start + MAX_WIDTH));
  const before = printable(source.slice(start, column - 1)).replace(/[^\t]/g, " ");
  const word = /^(?:"[^"]*"?|'[^']*'?|[^\s,:{}[\]#]+)/.exec(source.slice(column - 1))?.[0].length ?? 1;
  const gutter = String(line).length;
  const margin = " ".repeat(gutter);
  const marker = "^".repeat(Math.max(1, Math.min(word, MAX_WIDTH - before.length)));
  return [` ${margin} |`, ` ${line} | ${shown}`, ` ${margin} | ${before}${marker}`];
}

/** Control characters would change the terminal; they are shown as a box. */
function printable(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "\u25a1");
}
