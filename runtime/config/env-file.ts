/** Values for `${VAR}`: one `NAME=value` a line. The process environment is never merged in. */
import { readFileSync } from "node:fs";
import { StartError } from "./exit.js";

/** Splits at the first "=", trims both sides; blank lines, `#` lines and lines without "=" are skipped. Quotes are part of the value. */
export function parseEnvFile(text: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const raw of text.replace(/^\uFEFF/, "").split("\n")) {
    const line = raw.trim();
    const equals = line.indexOf("=");
    if (line === "" || line.startsWith("#") || equals < 0) continue;
    values.set(line.slice(0, equals).trim(), line.slice(equals + 1).trim());
  }
  return values;
}

/** @throws StartError when the file cannot be read. */
export function readEnvFile(path: string | null): ReadonlyMap<string, string> {
  if (path === null) return new Map();
  try {
    return parseEnvFile(readFileSync(path, "utf8"));
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    throw new StartError(`--env-file ${path}: ${code === "ENOENT" ? "no such file" : `cannot be read (${code})`}`);
  }
}
