/** Filters and orders of the list of runs, and the overview of what passes them. */
import assert from "node:assert/strict";
import { suite } from "../lib/suite.js";
import { type Json, type RunningTrace, startTrace } from "./lib.js";

const test = suite("trace: run filters");
const T0 = Date.parse("2026-11-20T10:00:00Z");

let trace: RunningTrace;
test.before(async () => {
  trace = await startTrace({ model_prices: { "m-1": { input: 1, output: 2 } } });
  const run = (id: string, minute: number, more: { readonly name: string; readonly ms: number; readonly user?: string; readonly model?: string; readonly tokens?: number; readonly tags?: readonly string[]; readonly failed?: boolean; readonly answer?: string; readonly retries?: number; readonly tools?: number; readonly server?: string }): Json[] => {
    const at = (ms: number): string => new Date(T0 + minute * 60_000 + ms).toISOString();
    return [
      { run_id: id, event_type: "chain_start", timestamp: at(0), agent_name: more.name, user_id: more.user ?? null, tags: [...(more.tags ?? [])], payload: { question: `about ${id}` } },
      { run_id: `${id}-m`, parent_run_id: id, event_type: "llm_start", timestamp: at(1), agent_name: "llm", model: more.model ?? null },
      { run_id: `${id}-m`, parent_run_id: id, event_type: "llm_end", timestamp: at(2), agent_name: "llm", model: more.model ?? null, token_input: more.tokens ?? null, token_output: more.tokens === undefined ? null : 1 },
      ...Array.from({ length: more.retries ?? 0 }, () => ({ run_id: id, event_type: "retry", timestamp: at(3) })),
      ...Array.from({ length: more.tools ?? 0 }, (_, index) => ["tool_start", "tool_end"].map((type) => ({ run_id: `${id}-t${index}`, parent_run_id: id, event_type: type, timestamp: at(4), tool_name: "t", mcp_server: more.server ?? null }))).flat(),
      { run_id: id, event_type: more.failed === true ? "chain_error" : "chain_end", timestamp: at(more.ms), agent_name: more.name, ...(more.failed === true ? { error_message: "no" } : {}), payload: { answer: more.answer ?? "fine" } },
    ] as unknown as Json[];
  };
  await trace.ingest([
    ...run("a", 0, { name: "search", ms: 900, user: "ada", model: "m-1", tokens: 10, tags: ["x"] }),
    ...run("b", 10, { name: "chat", ms: 100, user: "bob", model: "m-2", tokens: 900, tags: ["x", "y"], answer: "Größe 42", tools: 2, server: "shop" }),
    ...run("c", 20, { name: "chat", ms: 500, user: "ada", model: "m-1", tokens: 50, failed: true, retries: 9 }),
    ...run("d", 30, { name: "chat % _", ms: 300, tools: 1 }),
  ]);
});
test.after(() => trace.dispose());

const ask = async (path: string): Promise<{ readonly status: number; readonly body: never }> => {
  const answer = await fetch(`${trace.url}/api/${path}`);
  return { status: answer.status, body: (await answer.json()) as never };
};
const ids = async (query: string): Promise<string> => (((await ask(`runs?extended=1&${query}`)).body as { runs: { run_id: string }[] }).runs.map((run) => run.run_id).join(" "));

test("runs are filtered by name, model, user, tool, server and time, all in the query itself", async () => {
  const table: readonly (readonly [string, string])[] = [
    ["name=chat", "c b"], ["name=cha", ""], ["name=chat%20%25%20_", "d"], ["model=m-1", "c a"], ["model=m", ""], ["user=ada", "c a"], ["user=ada&name=chat", "c"], ["user=%25", ""],
    ["from=2026-11-20T10:10:00Z", "d c b"], ["to=2026-11-20T10:10:00Z", "a"], ["from=2026-11-20T10:10:00Z&to=2026-11-20T10:30:00Z", "c b"], ["from=2026-11-20T12:10:00%2B02:00", "d c b"],
    ["tool=t", "d b"], ["tool=T", ""], ["server=shop", "b"], ["tool=t&server=shop&name=chat", "b"], ["server=%22%5D", ""],
    ["q=gr%C3%B6%C3%9Fe", "b"], ["q=about%20c", "c"], ["name=%22)%20OR%201=1--", ""],
  ];
  for (const [query, wanted] of table) assert.equal(await ids(query), wanted, query);
  const page = (await ask("runs?user=ada&limit=1")).body as { total: number; runs: unknown[] };
  assert.deepEqual([page.total, page.runs.length], [2, 1]);
});

test("a moment that does not exist, and an order that is unknown, are refused", async () => {
  for (const query of ["from=2026-02-30", "to=yesterday", "sort=colour", "from="]) assert.equal((await ask(`runs?${query}`)).status, 422, query);
  assert.match(JSON.stringify((await ask("overview?to=2026-02-30")).body), /"query","to"[^]*must be a moment that exists/);
});

test("runs are ordered by duration, tokens, cost, errors, calls or steps, and page by offset", async () => {
  assert.equal(await ids("sort=duration"), "a c d b");
  assert.equal(await ids("sort=tokens"), "b c a d");
  assert.equal(await ids("sort=cost"), "c a d b");
  assert.equal(await ids("sort=errors"), "c d b a");
  assert.equal(await ids("sort=calls"), "b d c a");
  assert.equal(await ids("sort=steps"), "c b d a");
  assert.equal(await ids("sort=started"), "d c b a");
  assert.equal(await ids("sort=duration&limit=2&offset=2"), "d b");
  const page = (await ask("runs?extended=1&sort=duration&limit=2")).body as { next_cursor?: string };
  assert.equal(page.next_cursor, undefined);
});

test("the overview counts runs over time and names the values that narrow them", async () => {
  type Overview = { total: number; counted: number; bucket_ms: number; buckets: { runs: number; failed: number; tokens_input: number; cost_usd: number | null; p50_duration_ms: number | null }[]; facets: { [name: string]: { value: string; runs: number }[] } };
  const { body } = await ask("overview?buckets=3");
  const overview = body as Overview;
  assert.deepEqual([overview.total, overview.counted, overview.buckets.length], [4, 4, 3]);
  assert.deepEqual(overview.buckets.map(({ runs, failed, tokens_input }) => [runs, failed, tokens_input]), [[2, 0, 910], [1, 1, 50], [1, 0, 0]]);
  assert.equal(overview.buckets[2]?.p50_duration_ms, 300);
  assert.deepEqual(overview.facets["name"], [{ value: "chat", runs: 2 }, { value: "chat % _", runs: 1 }, { value: "search", runs: 1 }]);
  assert.deepEqual(overview.facets["tag"], [{ value: "x", runs: 2 }, { value: "y", runs: 1 }]);
  assert.deepEqual([overview.facets["tool"], overview.facets["server"]], [[{ value: "t", runs: 2 }], [{ value: "shop", runs: 1 }]]);
  assert.deepEqual(overview.facets["user"]?.[0], { value: "ada", runs: 2 });
  const narrow = (await ask("overview?user=ada&status=failed")).body as Overview;
  assert.deepEqual([narrow.total, narrow.facets["model"]], [1, [{ value: "m-1", runs: 1 }]]);
  const none = (await ask("overview?user=nobody")).body as Overview;
  assert.deepEqual([none.total, none.buckets], [0, []]);
});

test("the prices in force are those of the settings, then the list prices of their month", async () => {
  const { status, body } = await ask("prices");
  const { as_of: month, prices } = body as { as_of: string; prices: { model: string; input: number; output: number; own: boolean }[] };
  assert.equal(status, 200);
  assert.match(month, /^\d{4}-\d\d$/);
  assert.deepEqual(prices.filter((price) => price.own), [{ model: "m-1", input: 1, output: 2, own: true }]);
  assert.deepEqual(prices.map((price) => price.model), prices.map((price) => price.model).sort());
  assert.ok(prices.length > 20 && prices.every((price) => price.input >= 0));
});

test.run();
