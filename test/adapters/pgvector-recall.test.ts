/** The recall certificate on a real index: hnsw of PostgreSQL, with one tenant that has one row in five hundred. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { run } from "../../generator/cli/main.js";
import { EXIT } from "../../generator/cli/exit.js";
import type { CertifiedRecall } from "../../generator/recall/certificate.js";
import { hashText } from "../../runtime/embed/local/hashing.js";
import { memoryIo } from "../lib/io.js";
import { suite } from "../lib/suite.js";
import type { StoredRecord } from "./live-store.js";
import { pgvectorStore } from "./pgvector-live.js";

const test = suite("adapters/pgvector recall");
const url = process.env["TOOLSRV_TEST_PGVECTOR"];

const ROWS = 8000;
const WORDS = ["amber", "birch", "cedar", "delta", "ember", "fjord", "grove", "heron", "inlet", "jetty", "karst", "larch", "maple", "north", "ocean", "pines", "quartz", "ridge", "shale", "tundra"];
const wordAt = (n: number): string => WORDS[n % WORDS.length] ?? "";
const textOf = (n: number): string => [n, n * 7 + 3, (n >> 3) * 11 + 5, (n >> 6) * 13 + 1].map(wordAt).join(" ");
const RECORDS: readonly StoredRecord[] = Array.from({ length: ROWS }, (_, n) => ({ n, vector: [...hashText(`${textOf(n)} ${n}`, 256)], payload: { text: `${textOf(n)} ${n}`, org: n % 500 === 7 ? "rare" : "common" } }));

const CATALOG = `tds_version: "2"
connections: { main: { backend: pgvector, dsn: "\${DSN}" } }
defaults: { embedding: local/hashing-256 }
security: { tenancy: { mode: claim, claim: org, path: org } }
tools:
  - name: search_places
    description: Search the places by words that describe them, best match first.
    target: { connection: main, collection: places }
    query: { required: true }
    quality: { min_recall: 0.95 }
    output: { limit_default: 10, limit_max: 20 }
`;

if (url === undefined) test.skip("every case", "needs PostgreSQL with pgvector; make live starts one");
else test("an index that loses rows is below the floor and fails the build, a good one is certified, each at the selectivity of both tenants", async () => {
  const store = await pgvectorStore(url);
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-recall-live-"));
  // With these two the planner takes the index also where it leaves few rows, as it does on tables of millions.
  const dsn = `${String(store.settings["dsn"])}%20-c%20enable_seqscan%3Doff%20-c%20enable_bitmapscan%3Doff`;
  const client = new pg.Client({ connectionString: dsn });
  await client.connect();
  const index = async (parameters: string): Promise<void> => void (await client.query(`DROP INDEX IF EXISTS graph; CREATE INDEX graph ON places USING hnsw (embedding vector_cosine_ops) WITH (${parameters}); ANALYZE places`));
  const toolsrv = async (...args: readonly string[]): Promise<{ readonly code: number; readonly err: string }> => {
    const io = memoryIo({ cwd: folder });
    return { code: await run(args, io), err: io.err() };
  };
  const measured = (): CertifiedRecall => (JSON.parse(readFileSync(join(folder, "tools.recall.json"), "utf8")) as { readonly tools: readonly [CertifiedRecall] }).tools[0];
  try {
    await store.fill("places", RECORDS);
    writeFileSync(join(folder, "tools.yaml"), CATALOG);
    writeFileSync(join(folder, ".env"), `DSN=${dsn}\n`);
    const recall = () => toolsrv("recall", "tools.yaml", "--env-file", ".env");

    await index("m = 2, ef_construction = 4");
    const poor = await recall();
    const { lowest, tenants, selectivity, rows, exact, queries } = measured();
    assert.deepEqual([poor.code, tenants, selectivity, rows, exact, queries], [EXIT.FINDINGS, 2, 0.002, ROWS, false, 36], poor.err);
    assert.ok(lowest !== null && lowest < 0.95, String(lowest));
    const refused = await toolsrv("build");
    assert.equal(refused.code, EXIT.USAGE);
    assert.match(refused.err, /TS0291.*quality\.min_recall is 0\.95, and the certificate shows 0\.\d+/);

    await index("m = 24, ef_construction = 200");
    const good = await recall();
    const after = measured();
    process.stdout.write(`  recall of the lowest tenant: ${lowest} with m = 2, ${String(after.lowest)} with m = 24\n`);
    assert.deepEqual([good.code, (await toolsrv("build")).code], [EXIT.OK, EXIT.OK], good.err);
    assert.ok((after.lowest ?? 0) >= 0.95 && !after.exact);
  } finally {
    await client.end();
    await store.close();
    rmSync(folder, { recursive: true });
  }
}, { timeoutMs: 180_000 });

test.run();
