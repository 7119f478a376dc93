/**
 * The Python package of a build: models, definitions and methods made from the plans, beside modules that are the same
 * for every catalog. The package calls a server; nothing that only the server needs is in it.
 */
import { ABI } from "../../runtime/abi/plan.js";
import { sha256Hex } from "../../runtime/abi/fingerprint.js";
import type { Host } from "../host.js";
import { jsonText, MANIFEST } from "./manifest.js";
import { pythonHeader, pythonTools, type PythonCatalog } from "./python-view.js";
import { pyString } from "./python-text.js";
import { createPythonRender, readPythonModules } from "./templates.js";

/** Generated files of the package, by the template that makes them. */
const GENERATED = { "__init__.py": "init.py", "definitions.py": "definitions.py", "models.py": "models.py", "tools.py": "tools.py", "py.typed": "py.typed" } as const;

export interface PythonInput {
  readonly catalogs: readonly PythonCatalog[];
  /** What the package is imported as. */
  readonly name: string;
  /** Relative path, with "/", from the folder of the modules to the built server. */
  readonly server: string;
}

/** The files of the package by path, in the order of the report. A pure function of its input and the templates. */
export async function emitPython({ catalogs, name, server }: PythonInput, host: Pick<Host, "read" | "tree">): Promise<ReadonlyMap<string, string>> {
  const [render, modulesOfAll] = [createPythonRender(), await readPythonModules(host)];
  const catalog = pythonHeader(catalogs);
  const tools = pythonTools(catalogs).map((tool) => ({ ...tool, rowSummary: `"""A row of ${tool.identifier}."""` }));
  const versions = new Set(catalogs.map(({ plans }) => plans.catalog.version ?? "0"));
  const [version = "0"] = versions;
  const view = {
    catalog, tools, name, server: pyString(server), distribution: name.replaceAll("_", "-"),
    // Python's packaging knows few forms of versions; others say nothing there.
    version: versions.size === 1 && /^\d{1,9}(?:\.\d{1,9}){0,3}$/.test(version) ? version : "0",
    description: pyString(`The tools of ${catalogs.map(({ plans }) => plans.catalog.file).join(", ")}: connect() to call them, load_tools() for agent frameworks.`),
  };
  const modules = new Map([
    ...Object.entries(GENERATED).map(([path, template]) => [path, render(template, view)] as const),
    ...[...modulesOfAll].map(([path, text]) => [path, `${render("header", view)}${text}`] as const),
  ].sort(([a], [b]) => (a < b ? -1 : 1)));
  const files = new Map([["pyproject.toml", render("pyproject.toml", view)], ...[...modules].map(([path, text]) => [`${name}/${path}`, text] as const)]);
  files.set(MANIFEST, jsonText({ abi: ABI, ...catalogOf(catalogs), files: Object.fromEntries([...files].map(([path, text]) => [path, `sha256:${sha256Hex(text)}`])) }));
  return files;
}

function catalogOf(catalogs: readonly PythonCatalog[]): object {
  const [only] = catalogs;
  if (catalogs.length === 1 && only !== undefined) return { catalog: only.plans.catalog };
  return { catalogs: Object.fromEntries(catalogs.map(({ project, plans }) => [project ?? plans.catalog.file, plans.catalog])) };
}
