/** The table of output files: which file, from which template, with which view. */
import type { ExplainedTools } from "../../runtime/abi/explained.js";
import type { GuardCertificate, Plans } from "../ir.js";
import { clientView } from "./client-view.js";
import { explainedText } from "./explained.js";
import { identifiers } from "./helpers.js";
import { LOCK, lockText, MANIFEST, manifestText, projectsLockText, projectsManifestText } from "./manifest.js";
import { queriesView, type Queries } from "./queries.js";
import { servedSkill, skillView } from "./skill.js";
import type { Render, TemplateName } from "./templates.js";
import { traceFiles, type TraceInput } from "./trace.js";
import { handlerViews, headerView, plansView, projectsView, schemasView, serverView, toolsView, toolViews } from "./view.js";

/** With more tools than this, every handler gets a file of its own. */
const ONE_FILE_LIMIT = 20;

/** The made-up rows of a twin. */
const ROWS = "rows.json";

/** What is printed of one catalog. */
export interface CatalogInput {
  readonly plans: Plans;
  readonly certificates: readonly GuardCertificate[];
  /** Relative URL from the folder of its files to the catalog's, ending in "/". */
  readonly base: string;
  /** What each tool asks its store, made by the code that serves. */
  readonly queries: Queries;
  /** What the trace service shows of the tools; left out where there is no trace service. */
  readonly explained?: ExplainedTools;
  /** The text of made-up rows: then the server is a twin, which reads them and opens no store. */
  readonly rows?: string;
}

export interface EmitInput extends CatalogInput {
  /** What the trace service is made of; without it, it is left out. */
  readonly trace?: TraceInput;
}

/** One of several catalogs of a server. */
export interface ProjectInput extends CatalogInput {
  readonly name: string;
}

export interface ProjectsInput {
  /** In the order they were given. */
  readonly projects: readonly ProjectInput[];
  readonly trace?: TraceInput;
}

interface OutputFile {
  readonly path: string;
  readonly template: TemplateName;
  readonly view: () => object;
}

/** The files of one catalog; its program is served by itself or is one of several. */
function catalogFiles({ plans, certificates, base, queries, explained }: CatalogInput, program: Pick<OutputFile, "path" | "template">, traceRoutes: string | null, render: Render): readonly OutputFile[] {
  const tools = toolViews(plans);
  const handlers = handlerViews(plans, tools);
  const split = handlers.length > ONE_FILE_LIMIT;
  const skill = servedSkill(plans, render);
  return [
    { ...program, view: () => serverView(plans, base, traceRoutes, traceRoutes !== null && explained !== undefined) },
    { path: "plans.ts", template: "plans", view: () => plansView(plans, tools, certificates) },
    { path: "schemas.ts", template: "schemas", view: () => schemasView(plans, tools) },
    { path: "handlers.ts", template: split ? "handlers-index" : "handlers", view: () => ({ ...headerView(plans), tools: handlers }) },
    ...(split ? handlers : []).map((handler): OutputFile => ({ path: `handlers/${handler.identifier}.ts`, template: "handler-file", view: () => handler })),
    { path: "tools.ts", template: "tools", view: () => toolsView(plans, tools) },
    ...(skill === undefined ? [] : [{ path: "skill.ts", template: "skill-parts", view: () => skillView(plans, skill) }] satisfies readonly OutputFile[]),
    { path: "client.ts", template: "client", view: () => clientView(plans, tools) },
    { path: "queries.md", template: "queries", view: () => queriesView(plans, certificates, queries, base) },
  ];
}

/** The texts of one catalog's files by path, in the order of the table; `folder` is where they are in the build, "" or ending in "/". */
function catalogTexts(input: CatalogInput, program: Pick<OutputFile, "path" | "template">, traceRoutes: string | null, folder: string, render: Render): ReadonlyMap<string, string> {
  const texts = new Map(catalogFiles(input, program, traceRoutes, render).map(({ path, template, view }) => [path, render(template, view())]));
  // Its lines are those of the plans as they were printed.
  if (traceRoutes !== null && input.explained !== undefined) texts.set("trace.plans.ts", explainedText(input.plans, input.explained, { path: `${folder}plans.ts`, text: texts.get("plans.ts") ?? "" }, render));
  return texts;
}

/**
 * The reviewed files of a build by path, in the order of the table. A pure function of its input: no clock,
 * no absolute path, no version, so that the same catalog gives the same bytes on any machine.
 */
export function emit(input: EmitInput, render: Render): ReadonlyMap<string, string> {
  const files = new Map(catalogTexts(input, { path: "server.ts", template: input.rows === undefined ? "server" : "twin-server" }, input.trace === undefined ? null : "./trace.routes.js", "", render));
  if (input.rows !== undefined) files.set(ROWS, input.rows);
  if (input.trace !== undefined) for (const [path, text] of traceFiles(input.trace, render)) files.set(path, text);
  files.set(LOCK, lockText(input.plans, input.certificates));
  files.set(MANIFEST, manifestText(input.plans, input.certificates, files));
  return files;
}

/** The folder of each project's files within the output, by name. */
export function projectFolders(names: readonly string[]): ReadonlyMap<string, string> {
  return identifiers(names);
}

/** `emit` for several catalogs in one server: the files of each in a folder of its own, and an entry that serves them all. */
export function emitProjects({ projects, trace }: ProjectsInput, render: Render): ReadonlyMap<string, string> {
  const folders = projectFolders(projects.map(({ name }) => name));
  const placed = projects.map((project) => ({ ...project, folder: folders.get(project.name) ?? project.name }));
  const view = projectsView(placed);
  const isTwin = projects.every(({ rows }) => rows !== undefined);
  const files = new Map([["server.ts", render(isTwin ? "twin-projects-server" : "projects-server", view)], ["projects.ts", render(isTwin ? "twin-projects" : "projects", view)]]);
  const routes = trace === undefined ? null : "../trace.routes.js";
  for (const project of placed) {
    const folder = `${project.folder}/`;
    for (const [path, text] of catalogTexts(project, { path: "program.ts", template: "project" }, routes, folder, render)) files.set(`${folder}${path}`, text);
    if (isTwin && project.rows !== undefined) files.set(`${project.folder}/${ROWS}`, project.rows);
  }
  if (trace !== undefined) for (const [path, text] of traceFiles(trace, render)) files.set(path, text);
  files.set(LOCK, projectsLockText(placed));
  files.set(MANIFEST, projectsManifestText(placed, files));
  return files;
}
