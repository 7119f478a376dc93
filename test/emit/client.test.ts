/** client.ts of a build: what TypeScript refuses, and that it calls over a connection and over MCP clients alike. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { transpile } from "../../generator/5-emit/transpile.js";
import { typecheck } from "../../generator/5-emit/typecheck.js";
import { compile, connect, isToolError, type CallOptions, type CatalogSource } from "../../generator/index.js";
import type { Envelope } from "../../runtime/abi/call.js";
import type { ToolCalls } from "../../runtime/abi/client.js";
import { overMcp, type McpCall } from "../../runtime/client/index.js";
import { CATALOG, NotesProject, steady } from "../frameworks/notes.js";
import { startHttp } from "../lib/served.js";
import { suite } from "../lib/suite.js";
import { printed } from "./printed.js";

const test = suite("typed client");
const project = new NotesProject();
test.before(() => project.fill());
test.after(() => project.remove());

const { security: _, ...open } = CATALOG;
const TARGET = { connection: "store", collection: "notes" };
const TYPED: CatalogSource = {
  ...open,
  tools: [
    ...open.tools,
    { name: "read_notes", description: "Read notes by what is known of them. Use to look one up.", target: TARGET, parameters: [{ name: "stars", path: "stars", dtype: "integer", required: true }, { name: "tags", path: "tags", op: "contains_any", dtype: "keyword[]" }, { name: "rated", path: "stars", op: "exists", dtype: "boolean" }], dtypes: { done: "boolean" }, output: { fields: ["stars", "tags", "done", "author.name", "mail", "gone"], redact: [{ path: "mail", mode: "hash" }, { path: "gone", mode: "omit" }] } },
  ],
};

async function printedClient(source: CatalogSource): Promise<ReadonlyMap<string, string>> {
  const { plans, guards } = await compile(source, { base: project.folder });
  return printed(plans, guards);
}

/** A module that uses the client, one statement a line; those that end in `// no` must not type-check. */
const USES = `
const envelope = await notes.call("search_notes", { query: "apples", colour: "red", limit: 3 });
await notes.call("search_notes", { query: "apples", colour: null, since: undefined });
await notes.call("count_notes");
await notes.call("count_notes", {}, { signal: AbortSignal.abort() });
const colour: string | null | undefined = envelope.rows[0]?.colour;
const counted: number | undefined = (await notes.call("count_notes")).rows[0]?.count;
const anything: unknown = (await notes.call("list_notes")).rows[0]?.["whatever"];
const read = (await notes.call("read_notes", { stars: 5, tags: ["a"] })).rows[0];
const stars: number | null | undefined = read?.stars;
const tags: readonly string[] | null | undefined = read?.tags;
const done: boolean | null | undefined = read?.done;
const nested: unknown = read?.["author.name"];
await notes.call("search_note", { query: "apples" }); // no
await notes.call("search_notes"); // no
await notes.call("search_notes", {}); // no
await notes.call("search_notes", { query: 5 }); // no
await notes.call("search_notes", { query: null }); // no
await notes.call("search_notes", { query: "apples", colour: "blue" }); // no
await notes.call("search_notes", { query: "apples", color: "red" }); // no
await notes.call("read_notes", { stars: 5, tags: "a" }); // no
await notes.call("count_notes", {}, { signal: "now" }); // no
const wrong: number = envelope.rows[0]?.colour; // no
envelope.rows[0]?.color; // no
envelope.rows[0]?._score?.length; // no
read?.gone; // no
const text: string = read?.mail; // no
envelope.total; // no
export { colour, counted, anything, stars, tags, done, nested, wrong, text };
`.trim().split("\n");

test("TypeScript refuses a wrong argument, tool and row field, and nothing that is right", async () => {
  const head = ['import type * as rt from "toolsrv/runtime/v1";', 'import { client } from "./client.js";', "declare const connection: rt.ToolCalls<{ readonly signal?: AbortSignal }>;", "const notes = client(connection);"];
  const files = new Map([...(await printedClient(TYPED)), ["use.ts", [...head, ...USES].join("\n")]]);
  const problems = await typecheck(files).then(() => "", (error: unknown) => String(error));
  const refused = [...new Set([...problems.matchAll(/use\.ts:(\d+): /g)].map(([, line]) => USES[Number(line) - 1 - head.length]))];
  assert.deepEqual(refused, USES.filter((line) => line.endsWith("// no")));
  assert.ok(!/(?:^|; |: )(?!use)[\w-]+\.ts:/.test(problems.replace(/^.*?type-check: /, "")), problems);
}, { timeoutMs: 60_000 });

type Loaded = { readonly client: <Options>(connection: ToolCalls<Options>) => ToolCalls<Options> };

/** client.js, which imports nothing. */
async function loadClient(): Promise<Loaded["client"]> {
  const scripts = await transpile(await printedClient(open));
  const file = join(project.folder, "client.mjs");
  writeFileSync(file, scripts.get("client.js") ?? "");
  return ((await import(pathToFileURL(file).href)) as Loaded).client;
}

const CALLS: readonly (readonly [string, { readonly [arg: string]: unknown }])[] = [
  ["search_notes", { query: "apples", colour: null }], ["count_notes", {}], ["search_notes", {}], ["search_notes", { query: "apples", colour: "blue" }],
];

/** What a call ends in, comparable. */
function endOf<Options>({ call }: ToolCalls<Options>, name: string, args: { readonly [arg: string]: unknown }): Promise<unknown> {
  return call(name, args).then((envelope: Envelope) => steady(JSON.stringify(envelope)), (error: unknown) => (isToolError(error) ? [error.code, error.message, error.retryable] : String(error)));
}

test("one client works over a connection and over both generations of the MCP SDK, with the same rows and errors", async () => {
  const client = await loadClient();
  const catalog = join(project.folder, "open.yaml");
  writeFileSync(catalog, JSON.stringify(open));
  const here = fileURLToPath(import.meta.url);
  const served = await startHttp(join(here, `../../e2e/toolsrv${extname(here)}`), ["serve", catalog]);
  const connection = await connect(catalog);
  const info = { name: "test", version: "1" };
  const [v1, v2] = [new ClientV1(info), new ClientV2(info)];
  await v1.connect(new HttpV1(new URL(served.url)) as Parameters<ClientV1["connect"]>[0]);
  await v2.connect(new HttpV2(new URL(served.url)));
  const remote: readonly McpCall[] = [(params, options) => v1.callTool(params, undefined, options), (params, options) => v2.callTool(params, options)];
  for (const [name, args] of CALLS) {
    const wanted = await endOf<CallOptions>(client(connection), name, args);
    for (const ask of remote) assert.deepEqual(await endOf(client(overMcp(ask)), name, args), wanted, name);
  }
  const aborted = client(overMcp(remote[1] as McpCall)).call("count_notes", {}, { signal: AbortSignal.abort(new Error("enough")) });
  await assert.rejects(aborted, /enough|abort/i);
  await Promise.all([connection.close(), v1.close(), v2.close()]);
  await served.kill();
}, { timeoutMs: 30_000 });

test("an answer that is none of ours is an error, whatever it holds", async () => {
  const answers: readonly unknown[] = [null, 5, "rows", {}, { content: [] }, { structuredContent: { rows: 5 } }, { content: [{ type: "text", text: "{" }] }, { isError: true }, { isError: true, content: [{ text: "sorry" }] }, { isError: true, content: [{ text: '{"error":{"code":"__proto__","message":"x"}}' }] }];
  for (const answer of answers) await assert.rejects(overMcp(async () => answer).call("count_notes"), (error) => isToolError(error) && error.code === "internal", JSON.stringify(answer));
  const limited = { isError: true, content: [{ type: "text", text: '{"error":{"code":"rate_limited","message":"slow down","retryable":true,"tool":"count_notes","retry_after_s":3}}' }] };
  await assert.rejects(overMcp(async () => limited).call("count_notes"), (error) => isToolError(error) && error.retryable && error.data["retry_after_s"] === 3);
});

test.run();
