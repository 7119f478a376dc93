/** Catalogs as text for the tests of the phases: what is not the point of a test is written once, here. */
import { analyze, compile, type Compilation, type CompileOptions } from "../../generator/compile.js";
import { locateAll } from "../../generator/diagnostics.js";
import type { LocatedDiagnostic } from "../../generator/ir.js";

export const HEAD = `tds_version: "2"\nconnections:\n  main: { backend: sqlite, path: ./main.db }\ndefaults: { embedding: local/hashing-256 }\n`;

export interface Options {
  readonly env?: { readonly [name: string]: string };
  readonly target?: CompileOptions["target"];
  /** Without an environment: references are not asked for values. */
  readonly unfilled?: boolean;
}

export function optionsOf({ env = {}, target = "describe", unfilled = false }: Options): CompileOptions {
  return { ...(unfilled ? {} : { env: new Map(Object.entries(env)) }), target };
}

/** Compiles a text; by default as a description, so that what cannot run yet does not matter. */
export function compiled(text: string, options: Options = {}): Compilation {
  return compile({ path: "tools.yaml", text }, optionsOf(options));
}

/** Diagnostics of a text with positions. */
export function diagnosed(text: string, options: Options = {}): readonly LocatedDiagnostic[] {
  const { diagnostics, source } = analyze({ path: "tools.yaml", text }, optionsOf(options));
  return locateAll(diagnostics, source);
}

/** Codes of a text's diagnostics, in file order. */
export function codesOf(text: string, options: Options = {}): readonly string[] {
  return diagnosed(text, options).map(({ code }) => code);
}

/** A search tool with extra lines; `extra` is indented by the caller. */
export function searchTool(name: string, extra = ""): string {
  return `  - name: ${name}\n    description: Search the articles by meaning. Use it for questions about the product.\n    target: { connection: main, collection: articles }\n    query: { param: query, required: true }\n${extra}`;
}
