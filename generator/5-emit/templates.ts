/** The templates of generated files: read from the package once, compiled once a build. */
import Handlebars from "handlebars";
import { fileURLToPath } from "node:url";
import { CompilerBug } from "../bug.js";
import type { Host } from "../host.js";

const TEMPLATES = ["server", "project", "projects", "projects-server", "twin-server", "twin-projects", "twin-projects-server", "plans", "schemas", "handlers", "handler-file", "handlers-index", "tools", "client", "trace-routes", "trace-plans", "trace-server", "queries", "skill-parts", "skill", "skill-served", "skill-tool"] as const;
const PARTIALS = ["header", "handler", "program", "skill-result"] as const;
export type TemplateName = (typeof TEMPLATES)[number];

/** The page for reviewers and the agent skill; all others make TypeScript. */
const MARKDOWN: ReadonlySet<string> = new Set<TemplateName | (typeof PARTIALS)[number]>(["queries", "skill", "skill-served", "skill-tool", "skill-result"]);

function fileOf(name: string): string {
  return `${name}.${MARKDOWN.has(name) ? "md" : "ts"}.hbs`;
}

/** A template's text with a view laid into it. @throws when the view lacks a name that the template uses. */
export type Render = (template: TemplateName, view: object) => string;

/** Reads the package's templates. */
export async function loadTemplates(host: Pick<Host, "read">): Promise<Render> {
  const folder = await templatesFolder(host);
  const read = async (name: string): Promise<string> => {
    const bytes = await host.read(`${folder}${fileOf(name)}`);
    if (bytes === null) throw new CompilerBug(`template ${name} is missing from the package`);
    return new TextDecoder().decode(bytes);
  };
  const sources = new Map(await Promise.all([...TEMPLATES, ...PARTIALS].map(async (name) => [name as string, await read(name)] as const)));
  return compileTemplates(sources, PARTIALS);
}

/** Prints a template by name. @throws when the view lacks a name that the template uses. */
export function compileTemplates(sources: ReadonlyMap<string, string>, partials: readonly string[]): (template: string, view: object) => string {
  // A world of its own: registering partials must not be seen by other users of the library.
  const handlebars = Handlebars.create();
  const options = { noEscape: true, strict: true, knownHelpersOnly: true };
  const compiled = new Map([...sources].map(([name, text]) => [name, handlebars.compile(text, options)]));
  for (const name of partials) handlebars.registerPartial(name, compiled.get(name) as HandlebarsTemplateDelegate);
  return (template, view) => {
    const print = compiled.get(template);
    if (print === undefined) throw new CompilerBug(`no template ${template}`);
    return print(view, { allowProtoPropertiesByDefault: false });
  };
}

/** Every file below a folder of the package's templates, by its path there. */
export async function readTemplateFolder(host: Pick<Host, "read" | "tree">, folder: string): Promise<ReadonlyMap<string, string>> {
  const root = `${await templatesFolder(host)}${folder}`;
  const paths = (await host.tree(root)).filter((path) => /\.(?:hbs|py)$/.test(path));
  return new Map(await Promise.all(paths.map(async (path) => [path, new TextDecoder().decode((await host.read(`${root}${path}`)) ?? new Uint8Array())] as const)));
}

/** templates/ of the package, which is two folders up from source and three from dist/. */
async function templatesFolder(host: Pick<Host, "read">): Promise<string> {
  for (const up of ["../../templates/", "../../../templates/"]) {
    const folder = fileURLToPath(new URL(up, import.meta.url));
    if ((await host.read(`${folder}header.ts.hbs`)) !== null) return folder;
  }
  throw new CompilerBug("the package has no templates folder");
}
