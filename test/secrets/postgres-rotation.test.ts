/** Rotated credentials of a real store: PostgreSQL refuses the old role, and the next call has the new one (make postgres). */
import assert from "node:assert/strict";
import { isToolError } from "../../runtime/abi/errors.js";
import { adapter as pgvector } from "../../runtime/adapters/pgvector/index.js";
import { createEngine } from "../../runtime/call/engine.js";
import { nobody, program } from "../call/program.js";
import { suite } from "../lib/suite.js";
import { DATABASE, dropSchema, newSchema, NO_DATABASE, sql } from "../trace/postgres/database.js";
import { json, secretServer } from "./world.js";

const test = suite("secrets of PostgreSQL");

if (DATABASE === undefined) test.skip("a rotated role needs no restart", NO_DATABASE);
else {
  const url = DATABASE;
  test("a rotated role needs no restart, and one that is refused for good fails the call", async () => {
    const schema = newSchema();
    const [first, second] = [`${schema}_one`, `${schema}_two`];
    const admin = (text: string): Promise<object[]> => sql({ url, schema: "public" }, text);
    const dsn = (role: string): string => {
      const own = new URL(url);
      own.username = role;
      own.searchParams.set("options", `-c search_path=${schema}`);
      return own.href;
    };
    await admin(`CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.things(id text PRIMARY KEY, name text); INSERT INTO ${schema}.things VALUES ('1', 'a'), ('2', 'b');
      CREATE ROLE ${first} LOGIN; CREATE ROLE ${second} LOGIN; GRANT USAGE ON SCHEMA ${schema} TO ${first}, ${second}; GRANT SELECT ON ${schema}.things TO ${first}, ${second}`);
    let role = first;
    const vault = await secretServer((request, response) => json({ data: { data: { dsn: dsn(role) }, metadata: {} } })(request, response));
    const plans = { how_many: { kind: "count", connection: "main", collection: "things", bind: [] } } as const;
    let now = 0;
    const engine = createEngine({
      ...program({ plans }), adapters: { pgvector: async () => ({ adapter: pgvector }) },
      connections: { main: { backend: "pgvector", settings: { dsn: "postgresql://placeholder", mode: "table", id_column: "id", table: "things" }, credentials: { provider: "vault", path: "secret/data/pg" } } },
    }, { env: new Map([["VAULT_ADDR", vault.url], ["VAULT_TOKEN", "canary-token"]]), now: () => now });
    const refuse = (name: string): Promise<object[]> => admin(`ALTER ROLE ${name} NOLOGIN; SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${name}'`);
    const count = (): Promise<number> => engine.call("how_many", {}, nobody).then((envelope) => envelope.count);
    /** The first call may still meet the connection that the server has cut. */
    const countAgain = (): Promise<number> => count().catch(() => count());
    try {
      assert.equal(await count(), 2);
      await refuse(first);
      role = second;
      now = 60_000;
      assert.equal(await countAgain(), 2);
      assert.equal(vault.asked.length, 2, "fetched again once");
      await refuse(second);
      now = 120_000;
      await count().catch(() => undefined);
      await assert.rejects(count(), (error) => isToolError(error) && error.code === "backend_unreachable" && !error.message.includes(second));
    } finally {
      await engine.close();
      await vault.close();
      await admin(`DROP OWNED BY ${first}, ${second}; DROP ROLE ${first}; DROP ROLE ${second}`);
      await dropSchema(url, schema);
    }
  }, { timeoutMs: 60_000 });
}

test.run();
