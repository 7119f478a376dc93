/**
 * Makes templates.gen.ts, the templates of generated files as functions, from templates/. Run by `make gen`; with
 * `--check` it writes nothing and exits 1 when the file is stale. Development only: nothing of it is loaded by a
 * command, because reading and compiling the templates would take a tenth of a build.
 */
import { readdir, readFile, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import Handlebars from "handlebars";
import { EXIT } from "../cli/exit.js";

const here = dirname(fileURLToPath(import.meta.url));
const FILE = "templates.gen.ts";
const ENDING = /(?:\.ts|\.md)?\.hbs$/;

/** Folders of templates/, by the constant that holds their templates. */
const FOLDERS = { TEMPLATES: ".", PYTHON_TEMPLATES: "python" } as const;

/** A view that lacks a name that the template uses is an error, and texts are printed as they are. */
const OPTIONS = { noEscape: true, strict: true, knownHelpersOnly: true } as const;

/** The generated file. Same templates → same bytes. */
export async function generateTemplates(templates: string): Promise<string> {
  const tables = await Promise.all(Object.entries(FOLDERS).map(async ([constant, folder]) => {
    const names = (await readdir(join(templates, folder))).filter((name) => name.endsWith(".hbs")).sort();
    const members = await Promise.all(names.map(async (name) => `  ${JSON.stringify(name.replace(ENDING, ""))}: ${String(Handlebars.precompile(await readFile(join(templates, folder, name), "utf8"), OPTIONS))},\n`));
    return `\nexport const ${constant}: { readonly [name: string]: object } = {\n${members.join("")}};\n`;
  }));
  return `// Code generated from templates/ by gen-templates.ts; DO NOT EDIT.\n// @ts-nocheck The functions are made by the template library and have no types.\n${tables.join("")}`;
}

async function main(check: boolean): Promise<number> {
  const [text, old] = await Promise.all([generateTemplates(join(here, "../../templates")), readFile(join(here, FILE), "utf8").catch(() => "")]);
  if (old === text) return EXIT.OK;
  if (!check) await writeFile(join(here, FILE), text);
  process.stderr.write(`${check ? "stale" : "wrote"} generator/5-emit/${FILE}\n`);
  return check ? EXIT.FINDINGS : EXIT.OK;
}

if (basename(process.argv[1] ?? "") === basename(fileURLToPath(import.meta.url))) {
  process.exitCode = await main(process.argv.includes("--check"));
}
