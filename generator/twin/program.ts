/**
 * A twin of a server: the same plans, lists, validators and call path over made-up rows. It opens no store, asks no
 * service and needs no secret, so that front ends and agents can be tested against it anywhere.
 */
import type { Program, ServePlan } from "../../runtime/abi/call.js";
import { missingNames, type Env } from "../../runtime/abi/references.js";
import { SMALLEST_EMBEDDING } from "../../runtime/embed/descriptors.js";
import { openEmbedder } from "../../runtime/embed/table.js";
import type { Plans } from "../ir.js";
import { alone } from "../isolation/program.js";
import { programOf, type ProgramOptions } from "../program.js";
import { TWIN_SETTING, twinModule } from "./adapter.js";
import { withFaults, type Fault } from "./faults.js";
import type { TwinStore } from "./rows.js";

export interface TwinOptions extends ProgramOptions {
  readonly store: TwinStore;
  readonly faults: readonly Fault[];
  readonly seed: number;
}

/** Values for every reference of a guard; those that are not given get one of their own. */
export function twinEnv(plans: Plans, env: Env): Env {
  const missing = Object.values(plans.tools).flatMap((plan) => missingNames(plan, env));
  return new Map([...missing.map((name) => [name, `twin-value-of-${name}`] as const), ...env]);
}

export function twinProgram(plans: Plans, { store, faults, seed, ...options }: TwinOptions): Program {
  const program = programOf({
    ...plans,
    settings: twinSettings(plans.settings),
    connections: Object.fromEntries(Object.entries(plans.connections).map(([name, { backend }]) => [name, { backend, settings: { [TWIN_SETTING]: name } }])),
    embeddings: Object.fromEntries(Object.keys(plans.embeddings).map((name) => [name, SMALLEST_EMBEDDING])),
    tools: Object.fromEntries(Object.entries(plans.tools).map(([name, plan]) => [name, alone(plan)])),
  }, options);
  const { code } = program;
  const backends = new Set(Object.values(plans.connections).map(({ backend }) => backend));
  return {
    ...program,
    code: async () => withFaults(await code(), faults, seed),
    adapters: Object.fromEntries([...backends].map((backend) => [backend, async () => ({ adapter: twinModule(backend, store, await openEmbedder({ ...SMALLEST_EMBEDDING, config: {} })) })])),
  };
}

/** Nothing is reported to the services of the real server, and calls are counted in memory. */
function twinSettings({ observability: _, security, ...settings }: ServePlan): ServePlan {
  if (security?.rate_limit === undefined) return { ...settings, ...(security === undefined ? {} : { security }) };
  const { redis_url: __, ...limit } = security.rate_limit;
  return { ...settings, security: { ...security, rate_limit: { ...limit, store: "memory" } } };
}
