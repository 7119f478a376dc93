/** `toolsrv serve --twin`: what it needs, which is nothing but the catalog, and what it refuses. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { EXIT } from "../../generator/cli/exit.js";
import { run } from "../../generator/cli/main.js";
import { memoryIo } from "../lib/io.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";

const test = suite("serve --twin");

const here = fileURLToPath(import.meta.url);
const toolsrvFile = join(here, `../../e2e/toolsrv${extname(here)}`);
const folder = mkdtempSync(join(tmpdir(), "toolsrv-serve-twin-"));
test.after(() => rmSync(folder, { recursive: true, force: true }));

/** A store whose client is no dependency, values that nobody gives, a model that is hosted. */
const CATALOG = `tds_version: '2'
connections:
  main: { backend: weaviate, url: "\${URL}", api_key: "\${KEY}" }
defaults: { embedding: { provider: hosted, model: text-embedding-3-small, config: { api_key: "\${EMBED_KEY}" } } }
tools:
  - name: search_notes
    kind: search
    description: Search the notes of the team by their texts. Use for anything.
    target: { connection: main, collection: Notes }
    query: { param: query, required: true }
    static_filters: [{ path: team, value: core }]
    output: { fields: [title, team] }
`;
const EXPORT = { connection: "main", backend: "weaviate", collections: [{ name: "Notes", fields: [{ path: "title", dtype: "keyword", enum: ["alpha", "beta"] }, { path: "team", dtype: "keyword" }] }] };
writeFileSync(join(folder, "tools.yaml"), CATALOG);
writeFileSync(join(folder, "notes.json"), JSON.stringify(EXPORT));
writeFileSync(join(folder, "scenarios.yaml"), "scenarios:\n  - { name: a, call: { tool: serch_notes } }\n");

test("a client of a twin gets rows of the export that pass the guard, without the store, its package or any value", async () => {
  const client = new Client({ name: "app", version: "1.0.0" });
  try {
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [...process.execArgv, toolsrvFile, "serve", join(folder, "tools.yaml"), "--twin", "--schema", join(folder, "notes.json")], cwd: repo(), stderr: "ignore", env: { PATH: process.env["PATH"] ?? "" } }));
    assert.ok((await client.listTools()).tools.some(({ name }) => name === "search_notes"));
    const { structuredContent } = await client.callTool({ name: "search_notes", arguments: { query: "alpha", limit: 5 } });
    const { rows } = structuredContent as { readonly rows: readonly { readonly title: string; readonly team: string }[] };
    assert.ok(rows.length === 5 && rows.every(({ title, team }) => ["alpha", "beta"].includes(title) && team === "core"), JSON.stringify(rows));
  } finally {
    await client.close();
  }
}, { timeoutMs: 30_000 });

const REFUSED: readonly (readonly [words: readonly string[], says: RegExp])[] = [
  [["--fault", "timeout:search_notes:1"], /--fault goes with --twin/],
  [["--twin", "--enable-define"], /leave out --enable-define/],
  [["--twin", "--seed", "x"], /--seed is a whole number/],
  [["--twin", "--schema", "none.json"], /no such file/],
  [["--twin", "--schema", "tools.yaml"], /no schema export/],
  [["--twin", "--fault", "timeout:search_note:1"], /did you mean 'search_notes'/],
  [["--twin", "--scenarios", "scenarios.yaml"], /TS0701[^]*scenarios\.yaml:2:30/],
  [["--twin", "--scenarios", "none.yaml"], /TS0002/],
];

for (const [words, says] of REFUSED) {
  test(`exit 2: serve ${words.join(" ")}`, async () => {
    const io = memoryIo({ cwd: folder });
    assert.equal(await run(["serve", "tools.yaml", ...words], io), EXIT.USAGE, io.err());
    assert.match(io.err(), says);
  });
}

test.run();
