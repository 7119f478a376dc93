/** Small programs written by hand: plans, validators and a store made of plain rows. */
import { pathToFileURL } from "node:url";
import * as z from "zod";
import type { Adapter, AdapterModule } from "../../runtime/adapters/adapter.js";
import type { Caller, Program } from "../../runtime/abi/call.js";
import { evaluate, type Row } from "../../runtime/abi/filter.js";
import type { Validator } from "../../runtime/abi/params.js";
import { ABI, type PlanTable } from "../../runtime/abi/plan.js";
import { handlerOf } from "../../runtime/call/handlers.js";
import { root } from "../lib/repo.js";

/** An adapter over rows in memory that follows the reference meaning; `overrides` replace single methods. */
export function memoryAdapter(rows: readonly Row[], overrides: Partial<Adapter> = {}): AdapterModule {
  const select = (filter: Parameters<typeof evaluate>[0]) => rows.filter((row) => evaluate(filter, row));
  const adapter: Adapter = {
    health: async () => undefined,
    collections: async () => ["things"],
    describe: async () => null,
    search: async ({ filter, limit }) => ({ rows: select(filter).slice(0, limit).map((row, i) => ({ ...row, _score: 1 - i / 10 })), exact: true }),
    fetch: async ({ filter, limit, offset }) => ({ rows: select(filter).slice(offset, offset + limit), exact: true }),
    count: async (_collection, filter) => select(filter).length,
    sample: async (_collection, n) => rows.slice(0, n),
    close: async () => undefined,
    ...overrides,
  };
  return { backend: "sqlite", open: async () => adapter, explain: (request) => JSON.parse(JSON.stringify(request)) };
}

export interface ProgramParts {
  readonly plans: PlanTable;
  readonly validators?: { readonly [tool: string]: z.ZodType };
  readonly adapter?: AdapterModule;
  readonly settings?: Program["settings"];
}

/** A runnable program; tools without a validator of their own take any object. */
export function program({ plans, validators = {}, adapter = memoryAdapter([]), settings = {} }: ProgramParts): Program {
  return {
    abi: ABI,
    catalog: { file: "tools.yaml", hash: `sha256:${"0".repeat(64)}` },
    settings,
    connections: { main: { backend: "sqlite", settings: {} } },
    embeddings: { default: { provider: "local", model: "hashing-256" } },
    plans,
    tools: [],
    code: async () => ({
      handlers: Object.fromEntries(Object.entries(plans).map(([name, plan]) => [name, handlerOf(plan)])),
      validators: Object.fromEntries(Object.keys(plans).map((name) => [name, (validators[name] ?? z.looseObject({})) as Validator])),
    }),
    adapters: { sqlite: async () => ({ adapter }) },
    base: pathToFileURL(`${root}/`),
  };
}

export const nobody: Caller = { requestId: "r1", principal: { id: null, claims: {}, headers: {} } };

/** Nobody with something to say. */
export function caller(principal: Partial<Caller["principal"]>, more: Partial<Caller> = {}): Caller {
  return { ...nobody, ...more, principal: { ...nobody.principal, ...principal } };
}
