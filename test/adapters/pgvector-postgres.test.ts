/** The SQL of pgvector's filters on a real PostgreSQL (make postgres starts one). */
import assert from "node:assert/strict";
import fc from "fast-check";
import { evaluate, type Filter, type Row } from "../../runtime/abi/filter.js";
import { compileFilter } from "../../runtime/adapters/pgvector/filter.js";
import { loadDriver } from "../../runtime/trace/store/postgres/driver.js";
import { DATABASE, dropSchema, newSchema, NO_DATABASE, sql } from "../trace/postgres/database.js";
import { suite } from "../lib/suite.js";
import { filters, payloads } from "./random.js";

const test = suite("adapters/pgvector on PostgreSQL");

/** What PostgreSQL does not hold, or orders by another rule. */
function isPlain(value: unknown): boolean {
  const text = JSON.stringify(value);
  return !/\\u|[^\x20-\x7e]|\\\\/.test(text) && !/e[+-]?\d/i.test(text);
}

if (DATABASE === undefined) {
  test.skip("dates and other values are compared as evaluate compares them", NO_DATABASE);
} else {
  const url = DATABASE;
  test("dates and other values are compared as evaluate compares them", async () => {
    const schema = newSchema();
    await sql({ url, schema: "public" }, `CREATE SCHEMA ${schema}; CREATE TABLE ${schema}.things(id text, payload jsonb)`);
    const driver = await loadDriver({ url, schema });
    const client = await driver.connect("test");
    await client.query("SET TimeZone = 'America/New_York'");
    let compared = 0;
    await fc.assert(fc.asyncProperty(fc.array(payloads.filter(isPlain), { minLength: 1, maxLength: 10 }), fc.array(filters, { minLength: 30, maxLength: 30 }), async (rows, some) => {
      await client.query("DELETE FROM things");
      for (const [index, row] of rows.entries()) await client.query("INSERT INTO things VALUES ($1, $2)", [`r${index}`, JSON.stringify(row)]);
      for (const filter of some) {
        if (!isPlain(filter) || JSON.stringify(filter).includes("text_match")) continue;
        const compiled = compileFilter(filter as Filter);
        const where = compiled === "all" ? { sql: "true", params: [] } : compiled === "none" ? { sql: "false", params: [] } : compiled;
        const found = await client.query(`SELECT id FROM things WHERE ${where.sql} ORDER BY id`, [...where.params] as unknown[]);
        const want = rows.flatMap((row, index) => (evaluate(filter as Filter, { ...(JSON.parse(JSON.stringify(row)) as Row), _id: `r${index}` }) ? [`r${index}`] : []));
        assert.deepEqual((found as { rows: { id: string }[] }).rows.map(({ id }) => id), want, JSON.stringify(filter));
        compared++;
      }
    }), { numRuns: 20 });
    assert.ok(compared > 100);
    await client.end();
    await dropSchema(url, schema);
  }, { timeoutMs: 120_000 });
}

test.run();
