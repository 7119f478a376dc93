/** The templates of generated files: templates/ of the repository, compiled by gen-templates.ts when the compiler is made. */
import type Handlebars from "handlebars";
import runtime from "handlebars/runtime.js";
import { fileURLToPath } from "node:url";
import { CompilerBug } from "../bug.js";
import type { Host } from "../host.js";
import { PYTHON_TEMPLATES, TEMPLATES } from "./templates.gen.js";

/** The part of the library that prints; its own types leave out what it has in common with the whole. */
const library = runtime as unknown as Pick<typeof Handlebars, "create">;

export type TemplateName =
  | "server" | "project" | "projects" | "projects-server" | "twin-server" | "twin-projects" | "twin-projects-server"
  | "plans" | "schemas" | "handlers" | "handler-file" | "handlers-index" | "tools" | "client" | "queries"
  | "trace-routes" | "trace-plans" | "trace-server" | "skill-parts" | "skill" | "skill-served" | "skill-tool";

/** Lays a view into a template. @throws when the view lacks a name that the template uses. */
export type Render = (template: TemplateName, view: object) => string;

/** Prints files of a build and skills. */
export function createRender(): Render {
  return renderOf(TEMPLATES, ["header", "handler", "program", "skill-result"]);
}

/** Prints files of a Python package; a template is called as its file without `.hbs`. */
export function createPythonRender(): (template: string, view: object) => string {
  return renderOf(PYTHON_TEMPLATES, ["header"]);
}

function renderOf(templates: { readonly [name: string]: object }, partials: readonly string[]): (template: string, view: object) => string {
  // A world of its own: registering partials must not be seen by other users of the library.
  const handlebars = library.create();
  const compiled = new Map(Object.entries(templates).map(([name, template]) => [name, handlebars.template(template)]));
  for (const name of partials) handlebars.registerPartial(name, compiled.get(name) as HandlebarsTemplateDelegate);
  return (template, view) => {
    const print = compiled.get(template);
    if (print === undefined) throw new CompilerBug(`no template ${template}`);
    return print(view, { allowProtoPropertiesByDefault: false });
  };
}

/** The modules that are the same in every Python package, by their path there. */
export async function readPythonModules(host: Pick<Host, "read" | "tree">): Promise<ReadonlyMap<string, string>> {
  const folder = await pythonFolder(host);
  const paths = (await host.tree(folder)).filter((path) => path.endsWith(".py"));
  return new Map(await Promise.all(paths.map(async (path) => [path, new TextDecoder().decode((await host.read(`${folder}${path}`)) ?? new Uint8Array())] as const)));
}

/** In the package, which is two folders up from source and three from dist/. */
async function pythonFolder(host: Pick<Host, "read">): Promise<string> {
  for (const up of ["../../templates/", "../../../templates/"]) {
    const folder = fileURLToPath(new URL(`${up}python/static/`, import.meta.url));
    if ((await host.read(`${folder}catalog.py`)) !== null) return folder;
  }
  throw new CompilerBug("the package has no templates folder");
}
