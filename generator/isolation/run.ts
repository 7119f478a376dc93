/** One run: seeds a temporary store, probes every tool, removes the store. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Env } from "../../runtime/abi/references.js";
import { openEmbedder } from "../../runtime/embed/table.js";
import { SMALLEST_EMBEDDING } from "../../runtime/embed/descriptors.js";
import { ADAPTERS } from "../../runtime/adapters/table.js";
import type { Plans } from "../ir.js";
import { readStockYaml } from "../proof/stock-yaml.js";
import { LIST_TOOL } from "../../runtime/call/meta-tools.js";
import { callersOf, type ProbeCaller } from "./callers.js";
import { createProbeClient, type ProbeClient } from "./client.js";
import { filledDemands, probeTool, type ToolReport } from "./probe.js";
import { seedsOf } from "./places.js";
import { probeEnv, probeProgram } from "./program.js";
import { EMBEDDED, recordingModule, writeStores, type Recorder, type Seeds } from "./store.js";

export interface IsolationReport {
  readonly tools: readonly ToolReport[];
  readonly callers: readonly string[];
  /** `open`: the catalog has no guard at all, so nothing isolates rows. */
  readonly outcome: "holds" | "crossed" | "open" | "not probed";
}

export interface IsolationInput {
  /** What runs; a test may pass other plans than those of the catalog. */
  readonly plans: Plans;
  /** What is demanded. */
  readonly catalogText: string;
  readonly env: Env;
  readonly signal: AbortSignal;
  /** After each tool. */
  readonly onTool?: (report: ToolReport, done: number, all: number) => void;
}

export async function testIsolation({ plans, catalogText, env: given, signal, onTool }: IsolationInput): Promise<IsolationReport> {
  const catalog = readStockYaml(catalogText) as { readonly [key: string]: unknown };
  const env = probeEnv(plans, given);
  const demands = filledDemands(catalog, env);
  const [{ read } = { read: { tenant: null, access: null } }] = demands;
  const callers = callersOf({ tenant: read.tenant, access: read.access, rbac: plans.settings.security?.rbac });
  const seeds = seedsOf(plans, demands);
  const folder = await mkdtemp(join(tmpdir(), `toolsrv-isolation-${process.pid}-`));
  const recorder: Recorder = { left: [] };
  try {
    await writeStores(folder, seeds, await openEmbedder({ ...SMALLEST_EMBEDDING, config: {} }), signal);
    const load = EMBEDDED === undefined ? undefined : ADAPTERS[EMBEDDED.name];
    if (load === undefined) throw new TypeError("no backend can be filled");
    const { adapter } = await load();
    const program = probeProgram(plans, folder, recordingModule(adapter, [...seeds.keys()], recorder));
    const metaTools = plans.settings.hardening?.["disable_meta_tools"] !== true;
    const client = createProbeClient(program, env, metaTools);
    try {
      const tools: ToolReport[] = [];
      for (const demand of demands) {
        signal.throwIfAborted();
        const report = await probeTool(demand, { plans, callers, seeds, client, recorder });
        tools.push(report);
        onTool?.(report, tools.length, demands.length);
      }
      if (metaTools) tools.push(await probeList(client, callers, seeds));
      return { tools, callers: [...new Set(callers.map(({ name }) => name))], outcome: outcomeOf(tools) };
    } finally {
      await client.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The list of tools is the same text for every caller of a role: nothing stored may be in it. */
async function probeList(client: ProbeClient, callers: readonly ProbeCaller[], seeds: Seeds): Promise<ToolReport> {
  const rows = [...seeds.values()].flatMap((collections) => [...collections.values()].flat());
  const reasons: string[] = [];
  for (const caller of callers) {
    const text = await client.list(caller);
    const told = rows.find(({ id }) => text.includes(id));
    if (told !== undefined) reasons.push(`tells ${caller.name} of row ${told.id}`);
  }
  return { tool: LIST_TOOL, verdict: reasons.length > 0 ? "crossed" : "holds", probes: callers.length, rows: 0, reasons };
}

/** A catalog in which only some tools have a guard is its author's decision; one without any isolates nothing. */
function outcomeOf(tools: readonly ToolReport[]): IsolationReport["outcome"] {
  const verdicts = new Set(tools.filter(({ tool, verdict }) => tool !== LIST_TOOL || verdict === "crossed").map(({ verdict }) => verdict));
  if (verdicts.has("crossed")) return "crossed";
  if (verdicts.has("not probed")) return "not probed";
  return verdicts.has("holds") ? "holds" : "open";
}
