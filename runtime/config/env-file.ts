/** The file of `--env`: values for `${NAME}`, one `NAME=value` a line. Only `--embedded` merges the process environment. */
import { readFileSync } from "node:fs";
import { StartError } from "./exit.js";

/** A line that is read, and probably meant differently. Never with the value. */
export interface EnvWarning {
  /** From 1. */
  readonly line: number;
  readonly name: string;
  readonly what: string;
}

export interface EnvFile {
  readonly values: ReadonlyMap<string, string>;
  readonly warnings: readonly EnvWarning[];
}

/**
 * Splits each line at its first "=" and trims both sides; blank lines, lines that start with "#" and lines without "="
 * are skipped. Quotes are part of the value. Of a name that is given twice the last value counts.
 */
export function parseEnvFile(text: string): EnvFile {
  const values = new Map<string, string>();
  const warnings: EnvWarning[] = [];
  for (const [index, raw] of text.replace(/^\uFEFF/, "").split("\n").entries()) {
    const equals = raw.indexOf("=");
    if (equals < 0 || raw.trimStart().startsWith("#")) continue;
    const name = raw.slice(0, equals).trim();
    const value = raw.slice(equals + 1).trim();
    values.set(name, value);
    for (const what of oddities(name, value)) warnings.push({ line: index + 1, name, what });
  }
  return { values, warnings };
}

function oddities(name: string, value: string): readonly string[] {
  const found: string[] = [];
  if (value.length > 1 && /^(["'`]).*\1$/s.test(value)) found.push("the quotes are part of the value; remove them unless they belong to it");
  if (/\s#/.test(value)) found.push("what follows '#' is part of the value; comments have lines of their own");
  if (/^export\s/.test(name)) found.push("'export' is part of the name; remove it");
  return found;
}

/** The variables of the process with the values of the file, which win: what `--embedded` fills references from. */
export function withEnvironment(values: EnvFile["values"], environment: { readonly [name: string]: string | undefined }): EnvFile["values"] {
  const inherited = Object.entries(environment).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return new Map([...inherited, ...values]);
}

/** A warning as one line for a person. */
export function envWarningText(file: string, { line, name, what }: EnvWarning): string {
  return `${file}:${line}: ${name}: ${what}`;
}

/** @throws StartError when the file cannot be read. */
export function readEnvFile(path: string | null): EnvFile {
  if (path === null) return { values: new Map(), warnings: [] };
  try {
    return parseEnvFile(readFileSync(path, "utf8"));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    throw new StartError(`--env ${path}: ${code === "ENOENT" ? "no such file" : `cannot be read (${code})`}`);
  }
}
