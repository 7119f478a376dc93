/**
 * A twin of a server: a compiled program over made-up rows. The lists, validators, guards and the call path are those of
 * the program; stores, embeddings and every other service are replaced, and no value of the environment is needed. This
 * room knows nothing of where rows come from (generator/twin makes them) and opens no connection.
 */
import type { Program, ServePlan } from "../abi/call.js";
import type { Env } from "../abi/references.js";
import { handlerOf } from "../call/handlers.js";
import { SMALLEST_EMBEDDING } from "../embed/descriptors.js";
import { openEmbedder } from "../embed/table.js";
import { TWIN_SETTING, twinModule } from "./adapter.js";
import { alone } from "./alone.js";
import { withFaults, type Fault } from "./faults.js";
import type { TwinData } from "./rows.js";

/** Values of the references of a twin: those that its rows were made with come before any other. */
export function twinEnv({ values }: Pick<TwinData, "values">, env: Env): Env {
  return new Map([...env, ...values]);
}

/** The program that a twin serves, whether `program` was printed or made in memory. */
export function twinProgram({ certificates: _, ...program }: Program, { store, seed }: TwinData, faults: readonly Fault[]): Program {
  const plans = Object.fromEntries(Object.entries(program.plans).map(([name, plan]) => [name, alone(plan)]));
  const backends = new Set(Object.values(program.connections).map(({ backend }) => backend));
  return {
    ...program,
    isTwin: true,
    settings: twinSettings(program.settings),
    connections: Object.fromEntries(Object.entries(program.connections).map(([name, { backend }]) => [name, { backend, settings: { [TWIN_SETTING]: name } }])),
    embeddings: Object.fromEntries(Object.keys(program.embeddings).map((name) => [name, SMALLEST_EMBEDDING])),
    plans,
    async code() {
      const { validators } = await program.code();
      const handlers = Object.fromEntries(Object.entries(plans).map(([name, plan]) => [name, handlerOf(plan)]));
      return withFaults({ validators, handlers }, faults, seed);
    },
    adapters: Object.fromEntries([...backends].map((backend) => [backend, async () => ({ adapter: twinModule(backend, store, await openEmbedder({ ...SMALLEST_EMBEDDING, config: {} })) })])),
  };
}

/** Nothing is reported to the services of the real server, and calls are counted in memory. */
function twinSettings({ observability: _, security, ...settings }: ServePlan): ServePlan {
  if (security?.rate_limit === undefined) return { ...settings, ...(security === undefined ? {} : { security }) };
  const { redis_url: __, ...limit } = security.rate_limit;
  return { ...settings, security: { ...security, rate_limit: { ...limit, store: "memory" } } };
}
