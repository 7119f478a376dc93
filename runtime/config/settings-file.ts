/**
 * A file of settings: TOML, YAML or JSON, by its name. The two parsers are loaded when a file of their kind is read:
 * a server that has none loads neither.
 */
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

export type SettingsFile = { readonly settings: { readonly [name: string]: unknown } } | { readonly problem: string };

/** Never throws: a problem is a clause for a message that names the file. */
export function readSettingsFile(file: string): SettingsFile {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unreadable";
    return { problem: code === "ENOENT" ? "does not exist" : `can't be read (${code})` };
  }
  try {
    const settings = parse(file, text) ?? {};
    if (typeof settings !== "object" || Array.isArray(settings)) return { problem: "must hold names and values" };
    return { settings: settings as { readonly [name: string]: unknown } };
  } catch (error) {
    return { problem: `can't be read: ${(error instanceof Error ? error.message : String(error)).split("\n")[0] ?? ""}` };
  }
}

function parse(file: string, text: string): unknown {
  const require = createRequire(import.meta.url);
  if (file.endsWith(".json")) return JSON.parse(text);
  if (/\.ya?ml$/.test(file)) return (require("yaml") as typeof import("yaml")).parse(text);
  return (require("smol-toml") as typeof import("smol-toml")).parse(text);
}
