/** Secrets of connections where they are used: when they are fetched, what they may change, and what happens when a store refuses them. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { BackendError, isToolError, ToolError } from "../../runtime/abi/errors.js";
import { SECRET_PROVIDERS, type ConnectionPlan, type Json, type PlanTable } from "../../runtime/abi/plan.js";
import type { Adapter, AdapterModule, Settings } from "../../runtime/adapters/adapter.js";
import { createEngine } from "../../runtime/call/engine.js";
import { SECRET_SOURCES } from "../../runtime/secrets/descriptors.js";
import { createSecrets } from "../../runtime/secrets/secrets.js";
import { memoryAdapter, nobody, program } from "../call/program.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";
import { json, secretServer, world, type SecretServer } from "./world.js";

const test = suite("secrets");

let server: SecretServer;
let held: { [field: string]: unknown } = {};
test.before(async () => {
  server = await secretServer((request, response) => json({ data: held })(request, response));
});
test.after(() => server.close());

/** The vault holds these fields from now on. */
function holds(fields: typeof held): void {
  held = fields;
  server.asked.length = 0;
  server.answer = (request, response) => json({ data: held })(request, response);
}

type Filled = ConnectionPlan & { readonly settings: { readonly [key: string]: Json } };
const qdrant = (settings: Filled["settings"] = {}, path = "kv/a"): Filled => ({ backend: "qdrant", settings: { url: "placeholder", ...settings }, credentials: { provider: "vault", path } });
const variables = (): { readonly [name: string]: string } => ({ VAULT_ADDR: server.url, VAULT_TOKEN: "canary-token" });

function clocked() {
  let now = 0;
  const surroundings = world(variables());
  return { secrets: createSecrets(surroundings, () => now), surroundings, at: (ms: number) => void (now = ms) };
}

test("every provider has one folder, and the schema of catalogs has the settings of each, and no others", () => {
  const folders = readdirSync(repo("runtime/secrets"), { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name.replace("-", "_"));
  assert.deepEqual(folders.sort(), [...SECRET_PROVIDERS].sort());
  const { definitions } = JSON.parse(readFileSync(repo("specs/tds.schema.json"), "utf8")) as { definitions: { Credentials: { properties: { [key: string]: { enum?: string[]; default?: string; properties?: object } } } } };
  const { provider, ...blocks } = definitions.Credentials.properties;
  assert.deepEqual(provider?.enum, SECRET_PROVIDERS);
  for (const [name, descriptor] of Object.entries(SECRET_SOURCES)) {
    assert.equal(descriptor.name, name);
    assert.deepEqual(Object.keys(blocks[name]?.properties ?? {}), Object.keys(descriptor.settings), name);
  }
});

test("fetched values win over written ones; fields of no connection are left alone", async () => {
  holds({ url: "http://db", api_key: "canary-key", owner: "search team", nested: { a: 1 } });
  const { secrets, surroundings } = clocked();
  assert.deepEqual(await secrets.settingsOf(qdrant({ api_key: "old" })), { url: "http://db", api_key: "canary-key" });
  assert.deepEqual(surroundings.seen.filter((text) => text !== ""), ["canary-token", "http://db", "canary-key"], "what the log has to hide");
});

test("a secret cannot move a connection to another part of the store, nor read it another way", async () => {
  const table: readonly (readonly [backend: ConnectionPlan["backend"], field: string])[] = [["pinecone", "namespace"], ["weaviate", "tenant"], ["weaviate", "embedding_mode"], ["pgvector", "table"], ["pgvector", "vector_column"], ["milvus", "database"]];
  for (const [backend, field] of table) {
    holds({ api_key: "canary-key", dsn: "canary-dsn", uri: "u", [field]: "canary-value" });
    await assert.rejects(clocked().secrets.settingsOf({ backend, settings: {}, credentials: { provider: "vault", path: "kv/a" } }), (error) => {
      return isToolError(error) && error.message.includes(`'${field}'`) && /belongs in the catalog/.test(error.message) && !error.message.includes("canary");
    }, `${backend} ${field}`);
  }
});

test("a secret without any field of the connection says which there are, and none of its own", async () => {
  holds({ canary_name: "canary-value" });
  await assert.rejects(clocked().secrets.settingsOf(qdrant()), (error) => isToolError(error) && error.message.endsWith("none of the fields of a qdrant connection: url, api_key") && !error.message.includes("canary"));
  holds({ api_key: "x".repeat(70_000) });
  await assert.rejects(clocked().secrets.settingsOf(qdrant()), /'api_key' has more than 65536 characters/);
});

test("a secret is fetched once for five minutes, by however many calls and connections", async () => {
  holds({ api_key: "k" });
  const { secrets, at } = clocked();
  await Promise.all(Array.from({ length: 50 }, () => secrets.settingsOf(qdrant())));
  await secrets.settingsOf(qdrant({ url: "http://other" }));
  at(299_999);
  await secrets.settingsOf(qdrant());
  assert.equal(server.asked.length, 1);
  at(300_000);
  await secrets.settingsOf(qdrant());
  await secrets.settingsOf(qdrant({}, "kv/b"));
  assert.deepEqual(server.asked.map(({ path }) => path), ["/v1/kv/a", "/v1/kv/a", "/v1/kv/b"]);
});

test("a failure is kept for two seconds, so that a storm of calls is no storm of requests", async () => {
  holds({});
  server.answer = json({ errors: [] }, 403);
  const { secrets, at } = clocked();
  for (let n = 0; n < 20; n += 1) await assert.rejects(secrets.settingsOf(qdrant()));
  assert.equal(server.asked.length, 1);
  holds({ api_key: "k" });
  at(2000);
  assert.equal((await secrets.settingsOf(qdrant()))["api_key"], "k");
});

const PLANS: PlanTable = { how_many: { kind: "count", connection: "main", collection: "things", bind: [] } };

/** A store that takes the keys in `valid`, and how often it was opened and closed. */
function guarded(valid: Set<unknown>): { readonly module: AdapterModule; readonly opened: Settings[]; closed: number; refused: number } {
  const store = { opened: [] as Settings[], closed: 0, refused: 0, module: memoryAdapter([]) };
  return Object.assign(store, {
    module: {
      ...memoryAdapter([]),
      async open(settings: Settings, options: { readonly base: string }): Promise<Adapter> {
        store.opened.push(settings);
        const inner = await memoryAdapter([{ _id: "1" }]).open(settings, options);
        const check = (): void => {
          if (valid.has(settings["path"])) return;
          store.refused += 1;
          throw new BackendError("auth", "sqlite", "the key is refused");
        };
        return {
          ...inner,
          health: async (signal) => (check(), inner.health(signal)),
          count: async (...request) => {
            await new Promise((resolve) => setImmediate(resolve));
            check();
            return inner.count(...request);
          },
          close: async () => void (store.closed += 1),
        };
      },
    },
  });
}

function engineOf(module: AdapterModule, more: { readonly environment?: { readonly [name: string]: string }; readonly env?: ReadonlyMap<string, string>; readonly now?: () => number } = {}) {
  const made = program({ plans: PLANS, adapter: module });
  const connections = { main: { backend: "sqlite", settings: { path: "placeholder" }, credentials: { provider: "vault", path: "kv/a" } } } as const;
  return createEngine({ ...made, connections }, { env: more.env ?? new Map(), environment: more.environment ?? variables(), ...(more.now === undefined ? {} : { now: more.now }) });
}

test("nothing is fetched before the first call that needs it; health asks too", async () => {
  holds({ path: "k1" });
  const store = guarded(new Set(["k1"]));
  const engine = engineOf(store.module);
  await engine.load();
  assert.equal(server.asked.length, 0);
  assert.equal((await engine.health())["main"]?.ok, true);
  assert.equal((await engine.call("how_many", {}, nobody)).count, 1);
  assert.equal(server.asked.length, 1);
  assert.deepEqual(store.opened, [{ path: "k1" }]);
  await engine.close();
});

test("variables of the env file win over those of the process", async () => {
  holds({ path: "k1" });
  const engine = engineOf(guarded(new Set(["k1"])).module, { env: new Map([["VAULT_TOKEN", "from-the-file"], ["VAULT_ADDR", ""]]) });
  await engine.call("how_many", {}, nobody);
  assert.equal(server.asked[0]?.headers["x-vault-token"], "from-the-file");
});

test("a credential that the store refuses is fetched anew once, for all calls that it was refused to", async () => {
  holds({ path: "k1" });
  let now = 0;
  const valid = new Set<unknown>(["k1"]);
  const store = guarded(valid);
  const engine = engineOf(store.module, { now: () => now });
  await engine.call("how_many", {}, nobody);
  valid.delete("k1");
  valid.add("k2");
  held = { path: "k2" };
  now = 60_000;
  const counts = await Promise.all(Array.from({ length: 20 }, () => engine.call("how_many", {}, nobody)));
  assert.ok(counts.every(({ count }) => count === 1));
  assert.deepEqual(store.opened, [{ path: "k1" }, { path: "k2" }]);
  assert.equal(server.asked.length, 2);
  assert.equal(store.closed, 1, "the old one, when its last call had ended");
  await engine.close();
  assert.equal(store.closed, 2);
});

test("a store that refuses the newest credential, too, fails the call and is not asked for ever", async () => {
  holds({ path: "bad" });
  let now = 0;
  const store = guarded(new Set());
  const engine = engineOf(store.module, { now: () => now });
  for (let n = 0; n < 50; n += 1) await assert.rejects(engine.call("how_many", {}, nobody), (error) => error instanceof ToolError && error.code === "backend_unreachable");
  assert.equal(server.asked.length, 1, "the secret is seconds old");
  now = 6000;
  await assert.rejects(engine.call("how_many", {}, nobody));
  assert.equal(server.asked.length, 2);
  assert.equal(store.opened.length, 1, "the same credential opens no second store");
});

test("a renewal that fails says why, and the next call tries again", async () => {
  holds({ path: "k1" });
  let now = 0;
  const valid = new Set<unknown>(["k1"]);
  const engine = engineOf(guarded(valid).module, { now: () => now });
  await engine.call("how_many", {}, nobody);
  valid.clear();
  now = 60_000;
  server.answer = json({ errors: [] }, 403);
  await assert.rejects(engine.call("how_many", {}, nobody), (error) => isToolError(error) && /the token is refused/.test(error.message));
  valid.add("k3");
  holds({ path: "k3" });
  now = 70_000;
  assert.equal((await engine.call("how_many", {}, nobody)).count, 1);
});

test("a call's deadline covers its credentials", async () => {
  holds({});
  server.answer = () => undefined;
  const engine = engineOf(guarded(new Set()).module);
  await assert.rejects(engine.call("how_many", {}, { ...nobody, deadlineMs: 50 }), (error) => isToolError(error) && error.code === "timeout");
  await engine.close();
});

test("an unknown provider is refused when it is needed, not taken for none", async () => {
  const { secrets } = clocked();
  await assert.rejects(secrets.settingsOf({ backend: "qdrant", settings: {}, credentials: { provider: "keychain" } }), (error) => isToolError(error) && error.code === "tds_invalid");
});

test.run();
