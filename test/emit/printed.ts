/** Generated files as modules: transpiled into a scratch folder from which zod is found, then imported. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { emit } from "../../generator/5-emit/files.js";
import { createRender } from "../../generator/5-emit/templates.js";
import { transpile } from "../../generator/5-emit/transpile.js";
import { literal } from "../../generator/5-emit/literal.js";
import { shownCalls } from "../../generator/explain/queries.js";
import { queryProgramOf } from "../../generator/program.js";
import type { GuardCertificate, Plans } from "../../generator/ir.js";
import { repo } from "../lib/repo.js";

/** What a build of these plans would write. */
export async function printed(plans: Plans, certificates: readonly GuardCertificate[] = []): Promise<ReadonlyMap<string, string>> {
  return emit({ plans, certificates, base: "../", queries: await queriesOf(plans) }, createRender());
}

/** What the tools ask their stores. */
export function queriesOf(plans: Plans): ReturnType<typeof shownCalls> {
  return shownCalls(queryProgramOf(plans), plans, (value) => literal(value, 0, 0));
}

/** A folder inside the repository that is gone after `use`. */
export async function inScratch<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const parent = repo("node_modules", ".cache", "toolsrv-test");
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, "emit-"));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Modules of a build by path; only those that need nothing but zod: plans.js, schemas.js, tools.js. */
export async function importPrinted(files: ReadonlyMap<string, string>): Promise<{ readonly [path: string]: { readonly [name: string]: unknown } }> {
  const scripts = await transpile(files);
  return inScratch(async (folder) => {
    writeFileSync(join(folder, "package.json"), '{"type":"module"}');
    for (const [path, text] of scripts) {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    }
    const load = async (path: string) => (await import(pathToFileURL(join(folder, path)).href)) as { readonly [name: string]: unknown };
    return { "plans.js": await load("plans.js"), "schemas.js": await load("schemas.js"), "tools.js": await load("tools.js") };
  });
}
