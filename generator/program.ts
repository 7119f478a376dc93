/**
 * Programs in memory: plans → a program that can be served at once. It is equal to the printed one:
 * validators from the same argument list, and handlers that call the same runtime functions in the same order.
 */
import type { Program, ToolCode } from "../runtime/abi/call.js";
import { certificateIds } from "../runtime/abi/certificates.js";
import type { ExplainedTools } from "../runtime/abi/explained.js";
import { BackendError } from "../runtime/abi/errors.js";
import { ABI, type BackendName } from "../runtime/abi/plan.js";
import type { GuardCertificate, Plans, QueryProgram } from "./ir.js";

export interface ProgramOptions {
  /** Folder of the catalog, ending in "/"; relative paths of connections start there. */
  readonly base: URL;
  /** Tools that the catalog does not declare. */
  readonly extra?: Program["extra"];
  /** Made by servedSkill() of 5-emit; a program that serves needs it where the catalog asks for a skill. */
  readonly skill?: Program["skill"];
  /** For a server that records its calls; made already, so that no call comes before it. */
  readonly explained?: ExplainedTools | undefined;
  /** What was shown of every tool's guards; a program that serves needs them where the catalog asks for evidence. */
  readonly certificates?: readonly GuardCertificate[];
}

async function handlersOf(plans: Plans): Promise<ToolCode["handlers"]> {
  const { handlerOf } = await import("../runtime/call/handlers.js");
  return Object.fromEntries(Object.entries(plans.tools).map(([name, plan]) => [name, handlerOf(plan)]));
}

async function codeOf(plans: Plans): Promise<ToolCode> {
  const [{ validatorOf }, handlers] = await Promise.all([import("../runtime/abi/validators.js"), handlersOf(plans)]);
  return { handlers, validators: Object.fromEntries(Object.entries(plans.inputs).map(([name, { params }]) => [name, validatorOf(params)])) };
}

async function adapterOf(backend: BackendName): ReturnType<Program["adapters"][string]> {
  const { ADAPTERS } = await import("../runtime/adapters/table.js");
  const load = ADAPTERS[backend];
  if (load === undefined) throw new BackendError("unsupported", backend, `this version of toolsrv has no adapter for backend '${backend}'`);
  return load();
}

function adaptersOf(plans: Plans): Program["adapters"] {
  const backends = new Set(Object.values(plans.connections).map(({ backend }) => backend));
  return Object.fromEntries([...backends].map((backend) => [backend, () => adapterOf(backend)]));
}

/** The part of a program that makes queries, by the same handlers and adapters. */
export function queryProgramOf(plans: Plans): QueryProgram {
  // Made once: to show every tool is to ask for it at every tool.
  let handlers: Promise<ToolCode["handlers"]> | null = null;
  return { connections: plans.connections, embeddings: plans.embeddings, plans: plans.tools, adapters: adaptersOf(plans), handlers: () => (handlers ??= handlersOf(plans)) };
}

/** A program as `out/server.ts` would pass it to `serve`. */
export function programOf(plans: Plans, { base, extra, skill, explained, certificates = [] }: ProgramOptions): Program {
  const ids = certificateIds(plans.settings, certificates);
  // Made once, as a printed program's modules are loaded once.
  let code: Promise<ToolCode> | null = null;
  return {
    abi: ABI,
    catalog: plans.catalog,
    settings: plans.settings,
    connections: plans.connections,
    embeddings: plans.embeddings,
    plans: plans.tools,
    tools: plans.definitions,
    ...(extra === undefined ? {} : { extra }),
    ...(skill === undefined ? {} : { skill }),
    ...(explained === undefined ? {} : { explained: async () => ({ explained }) }),
    ...(ids === null ? {} : { certificates: ids }),
    code: () => (code ??= codeOf(plans)),
    adapters: adaptersOf(plans),
    base,
  };
}
