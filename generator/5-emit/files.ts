/** The table of output files: which file, from which template, with which view. */
import type { BackendName } from "../../runtime/abi/plan.js";
import type { GuardCertificate, Plans } from "../ir.js";
import { LOCK, lockText, MANIFEST, manifestText } from "./manifest.js";
import type { Render, TemplateName } from "./templates.js";
import { traceFiles, type TraceInput } from "./trace.js";
import { handlerViews, headerView, plansView, schemasView, serverView, toolsView, toolViews } from "./view.js";

/** With more tools than this, every handler gets a file of its own. */
const ONE_FILE_LIMIT = 20;

export interface EmitInput {
  readonly plans: Plans;
  readonly certificates: readonly GuardCertificate[];
  /** Relative URL from the output folder to the catalog's, ending in "/". */
  readonly base: string;
  /** Backends whose adapter the runtime has; only these are imported. */
  readonly hasAdapter: (backend: BackendName) => boolean;
  /** What the trace service is made of; without it, it is left out. */
  readonly trace?: TraceInput;
}

interface OutputFile {
  readonly path: string;
  readonly template: TemplateName;
  readonly view: () => object;
}

function outputFiles({ plans, certificates, base, hasAdapter, trace }: EmitInput): readonly OutputFile[] {
  const tools = toolViews(plans);
  const handlers = handlerViews(plans, tools);
  const split = handlers.length > ONE_FILE_LIMIT;
  return [
    { path: "server.ts", template: "server", view: () => serverView(plans, base, hasAdapter, trace !== undefined) },
    { path: "plans.ts", template: "plans", view: () => plansView(plans, tools, certificates) },
    { path: "schemas.ts", template: "schemas", view: () => schemasView(plans, tools) },
    { path: "handlers.ts", template: split ? "handlers-index" : "handlers", view: () => ({ ...headerView(plans), tools: handlers }) },
    ...(split ? handlers : []).map((handler): OutputFile => ({ path: `handlers/${handler.identifier}.ts`, template: "handler-file", view: () => handler })),
    { path: "tools.ts", template: "tools", view: () => toolsView(plans, tools) },
  ];
}

/**
 * The reviewed files of a build by path, in the order of the table. A pure function of its input: no clock,
 * no absolute path, no version, so that the same catalog gives the same bytes on any machine.
 */
export function emit(input: EmitInput, render: Render): ReadonlyMap<string, string> {
  const files = new Map(outputFiles(input).map(({ path, template, view }) => [path, render(template, view())]));
  if (input.trace !== undefined) for (const [path, text] of traceFiles(input.trace, render)) files.set(path, text);
  files.set(LOCK, lockText(input.plans, input.certificates));
  files.set(MANIFEST, manifestText(input.plans, input.certificates, files));
  return files;
}
