/** The file given with --env-file: one KEY=VALUE a line, as existing catalogs are used with. */

/**
 * Values by name. A line is split at its first "=" and both sides are trimmed; blank lines, lines that start with "#"
 * and lines without "=" are skipped. Quotes are part of the value. Of a name that stands twice the last one counts.
 */
export function parseEnvFile(text: string): ReadonlyMap<string, string> {
  const values = new Map<string, string>();
  for (const line of text.replace(/^\uFEFF/, "").split("\n")) {
    const at = line.indexOf("=");
    if (at < 0 || line.trimStart().startsWith("#")) continue;
    values.set(line.slice(0, at).trim(), line.slice(at + 1).trim());
  }
  return values;
}
