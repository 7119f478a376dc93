/** The call path alone: a tool over a store that answers at once, against its validator and handler run by hand. */
import type { CallContext, Program } from "../../runtime/abi/call.js";
import type { Row } from "../../runtime/abi/filter.js";
import { inputSchemaOf, type ParamSpec, type ToolDefinition } from "../../runtime/abi/params.js";
import { ABI, type SearchPlan } from "../../runtime/abi/plan.js";
import { validatorOf } from "../../runtime/abi/validators.js";
import type { Adapter } from "../../runtime/adapters/adapter.js";
import { createEngine } from "../../runtime/call/engine.js";
import { handlerOf } from "../../runtime/call/handlers.js";
import { inTurn, median, versus, type BenchCase } from "../lib/case.js";

const ROUNDS = 15;
const CALLS_PER_ROUND = 5000;

const PARAMS: readonly ParamSpec[] = [
  { name: "genre", type: "string", list: true, enum: ["Action", "Comedy", "Drama"] },
  { name: "min_rating", type: "number", maximum: 10 },
  { name: "limit", type: "integer", minimum: 1, maximum: 20, default: 5 },
];
const PLAN: SearchPlan = {
  kind: "search", connection: "main", collection: "films",
  guard: { path: "distributor", op: "eq", value: "Paramount Pictures" },
  bind: [{ arg: "genre", path: "major_genre", op: "in" }, { arg: "min_rating", path: "imdb_rating", op: "gte" }],
  limit: { arg: "limit", default: 5, max: 20 },
  output: { fields: ["title", "imdb_rating"], id: true, score: true },
};
const FILMS: ToolDefinition = { name: "films", title: "Films", description: "Films.", inputSchema: inputSchemaOf(PARAMS) };
export const ARGS = { genre: ["Drama"], min_rating: 6, limit: 5 };
const ROWS: readonly Row[] = Array.from({ length: 5 }, (_, n) => ({ title: `Film ${n}`, imdb_rating: 7, director: "Someone", _id: String(n) }));

export const call: BenchCase = {
  name: "call",
  summary: "engine.call over a store that answers at once: what binding, shaping and the rest cost",
  async run() {
    const program = nullProgram();
    const engine = createEngine(program, { env: new Map() });
    const { validators } = await program.code();
    const caller = { requestId: "bench", principal: { id: null, claims: {}, headers: {} } };
    const { ours, peer } = await inTurn(ROUNDS, {
      ours: () => timed(() => engine.call("films", ARGS, caller)),
      peer: () => timed(async () => validators["films"]?.safeParse(ARGS)),
    });
    const beyond = median(ours) - median(peer);
    return [versus("engine.call", "the validator alone", "µs", { ours, peer }, { atMost: 40 }, [`${beyond.toFixed(2)} µs a call beyond the validator, five rows bound, shaped and measured`])];
  },
};

/** A program with one tool, `films`, over a store that answers at once. */
export function nullProgram(): Program {
  const answer = async () => ({ rows: ROWS, exact: true });
  const adapter: Adapter = {
    health: async () => undefined, collections: async () => [], describe: async () => null, search: answer, fetch: answer,
    count: async () => 0, sample: async () => [], close: async () => undefined,
  };
  return {
    abi: ABI,
    catalog: { file: "tools.yaml", hash: `sha256:${"0".repeat(64)}` },
    settings: {}, connections: { main: { backend: "sqlite", settings: {} } }, embeddings: {}, plans: { films: PLAN }, tools: [FILMS],
    code: async () => ({ handlers: { films: handlerOf(PLAN) as (args: never, call: CallContext) => ReturnType<ReturnType<typeof handlerOf>> }, validators: { films: validatorOf(PARAMS) } }),
    adapters: { sqlite: async () => ({ adapter: { backend: "sqlite", open: async () => adapter, explain: () => null } }) },
    base: new URL("file:///"),
  };
}

/** Microseconds a call. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  for (let i = 0; i < CALLS_PER_ROUND; i++) await work();
  return ((performance.now() - started) * 1000) / CALLS_PER_ROUND;
}
