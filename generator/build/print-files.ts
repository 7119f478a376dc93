/** Catalogs that compiled → the files of the output folder, with the proof of what they print. */
import { dirname, join } from "node:path";
import { projectName } from "../../runtime/abi/projects.js";
import type { TraceInput } from "../5-emit/trace.js";
import type { Host } from "../host.js";
import type { PrintedCatalog, Unproven } from "../proof/printed.js";
import { baseUrl, type Built } from "./order.js";

/** What a build prints. */
export interface Printed {
  readonly files: ReadonlyMap<string, string>;
  /** JavaScript and source maps of the files, where the extent has them: made by another process while this one does the proof. */
  readonly scripts: Promise<ReadonlyMap<string, string>> | null;
  /** The plans among them, each with its catalog. */
  readonly plans: readonly PrintedCatalog[];
  /** Empty where every guard was shown for the text that is printed. */
  readonly unproven: readonly Unproven[];
}

/** What the files hold beside the catalogs. */
export interface Extent {
  readonly trace: boolean;
  readonly scripts?: boolean;
  /** The texts of made-up rows, one for each catalog: then the files are a twin. */
  readonly rows?: readonly string[];
}

/** The files of the build for a folder, and every guard that the printed plans do not show. */
export async function printFiles(built: readonly Built[], out: string, extent: Extent, host: Host): Promise<Printed> {
  const [{ emit, emitProjects, projectFolders }, { createRender }, { shownCalls }, { explainedTools }, { queryProgramOf }, { literal }] = await Promise.all([
    import("../5-emit/files.js"), import("../5-emit/templates.js"),
    import("../explain/queries.js"), import("../explain/traced.js"), import("../program.js"), import("../5-emit/literal.js"),
  ]);
  const trace = extent.trace ? { trace: await traceInput() } : {};
  const render = createRender();
  const folders = projectFolders(built.map(({ shown }) => projectName(shown)));
  const inputs = await Promise.all(built.map(async ({ shown, path, plans, certificates }, index) => {
    const rows = extent.rows?.[index];
    const name = projectName(shown);
    const home = built.length === 1 ? out : join(out, folders.get(name) ?? name);
    const queries = await shownCalls(queryProgramOf(plans), plans, (value) => literal(value, 0, 0));
    const explained = extent.trace ? { explained: await explainedTools(plans, certificates, queryProgramOf) } : {};
    return { name, plans, certificates, queries, ...explained, base: baseUrl(home, dirname(await host.realPath(path))), ...(rows === undefined ? {} : { rows }) };
  }));
  const [only] = inputs;
  const files = inputs.length === 1 && only !== undefined ? emit({ ...only, ...trace }, render) : emitProjects({ projects: inputs, ...trace }, render);
  const scripts = extent.scripts === true ? await (await import("../5-emit/transpile.js")).startTranspiling(files) : null;
  const { problemsOf } = await import("../proof/printed.js");
  const plans = built.map(({ shown, checked }) => {
    const name = projectName(shown);
    return { path: built.length === 1 ? "plans.ts" : `${folders.get(name) ?? name}/plans.ts`, catalogText: checked.parsed.file.text };
  });
  const unproven = problemsOf(plans, (path) => files.get(path) ?? null);
  return { files, scripts: scripts?.made ?? null, plans, unproven };
}

async function traceInput(): Promise<TraceInput> {
  // The document as the runtime carries it: parsing the YAML again would cost more than the rest of the build.
  const [{ traceApiOf }, { DOCUMENT }] = await Promise.all([
    import("../1-parse/openapi.js"), import("../../runtime/trace/api.gen.js"),
  ]);
  const { operations, summaries } = traceApiOf(JSON.parse(DOCUMENT));
  return { operations, summaries };
}
