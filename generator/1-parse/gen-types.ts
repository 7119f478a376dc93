/**
 * Makes tds.gen.ts (types) and schema.gen.ts (the schema as a value) from specs/tds.schema.json.
 * Run by `make gen`; with `--check` it writes nothing and exits 1 when a file is stale.
 * Development only: nothing of it is loaded by a command.
 */
import { readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { compile, type JSONSchema } from "json-schema-to-typescript";
import { EXIT } from "../cli/exit.js";

const here = dirname(fileURLToPath(import.meta.url));
const HEADER = "// Code generated from specs/tds.schema.json by gen-types.ts; DO NOT EDIT.\n";

/** Keywords that say nothing a TypeScript type could hold; the shape walker and the documentation use them. */
const NOT_TYPED = new Set(["allOf", "patternErrorMessage", "default"]);

function withoutConditions(schema: unknown, parent = ""): unknown {
  if (Array.isArray(schema)) return schema.map((item) => withoutConditions(item));
  if (typeof schema !== "object" || schema === null) return schema;
  // Below these two, keys are names of the catalog and not keywords.
  const names = parent === "properties" || parent === "definitions";
  const kept = Object.entries(schema).filter(([key]) => names || !NOT_TYPED.has(key));
  return Object.fromEntries(kept.map(([key, value]) => [key, withoutConditions(value, names ? "" : key)]));
}

/** The generated files, by name. Same schema → same bytes. */
export async function generateTypes(schemaText: string): Promise<ReadonlyMap<string, string>> {
  const schema: unknown = JSON.parse(schemaText);
  const types = await compile(withoutConditions(schema) as JSONSchema, "Catalog", {
    additionalProperties: false,
    bannerComment: "",
    ignoreMinAndMaxItems: true,
    unreachableDefinitions: false,
    style: { printWidth: 160, semi: true, singleQuote: false, tabWidth: 2, trailingComma: "all" },
  });
  const value = `import type { SchemaNode } from "./schema-node.js";\n\n/** specs/tds.schema.json as a value, so that no command has to read it. */\nexport const tdsSchema: SchemaNode & { readonly definitions: { readonly [name: string]: SchemaNode } } = ${JSON.stringify(schema, null, 2)};\n`;
  return new Map([
    ["tds.gen.ts", `${HEADER}\n${types.trim()}\n`],
    ["schema.gen.ts", `${HEADER}${value}`],
  ]);
}

async function main(check: boolean): Promise<number> {
  const files = await generateTypes(await readFile(join(here, "../../specs/tds.schema.json"), "utf8"));
  let stale = 0;
  for (const [name, text] of files) {
    const path = join(here, name);
    const old = await readFile(path, "utf8").catch(() => "");
    if (old === text) continue;
    stale += 1;
    if (!check) await writeFile(path, text);
    process.stderr.write(`${check ? "stale" : "wrote"} generator/1-parse/${name}\n`);
  }
  return check && stale > 0 ? EXIT.FINDINGS : EXIT.OK;
}

if (basename(process.argv[1] ?? "") === basename(fileURLToPath(import.meta.url))) {
  process.exitCode = await main(process.argv.includes("--check"));
}
