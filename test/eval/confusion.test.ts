/** Pairs of tools that a model may confuse, and the requests that tell them apart. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import type { ToolDefinition } from "../../runtime/abi/params.js";
import { hashText } from "../../runtime/embed/local/hashing.js";
import { confusedPairs, confusionScenarios, type EmbedTexts } from "../../generator/eval/confusion.js";
import { SMALLEST_EMBEDDING } from "../../runtime/embed/descriptors.js";
import { openEmbedder } from "../../runtime/embed/table.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";
import { HELD_OUT } from "./confusion-held-out.js";
import { type LabelledList, LISTS } from "./confusion-pairs.js";

const test = suite("eval/confusion");

const embed: EmbedTexts = (texts) => Promise.resolve(texts.map((text) => hashText(text, 256)));
const tool = (name: string, description: string, args: readonly string[] = []): ToolDefinition => ({
  name, title: name, description, inputSchema: { type: "object", properties: Object.fromEntries([...args, "limit"].map((arg) => [arg, { type: "string", description: `The ${arg}.` }])) },
} as unknown as ToolDefinition);

const ORDERS = tool("search_orders", "Search the orders of customers by their texts. Use when the user asks about orders that were paid.", ["customer", "state"]);
const RETURNS = tool("search_returns", "Search the orders of customers by their texts. Use when the user asks about orders that came back.", ["customer", "state"]);
const WEATHER = tool("forecast", "Tells tomorrow's temperature at an airport.", ["airport"]);

test("tools that nearly say the same are a pair, others are not", async () => {
  const pairs = await confusedPairs([ORDERS, WEATHER, RETURNS], embed);
  assert.deepEqual(pairs.map(({ a, b }) => [a, b]), [["search_orders", "search_returns"]]);
  assert.ok((pairs[0]?.likeness ?? 0) > 0.6 && (pairs[0]?.parts.parameters ?? 0) > 0.9);
  assert.deepEqual(pairs[0]?.only, { a: ["were", "paid"], b: ["came", "back"] });
});

test("each side of a pair has a scenario whose request is what only its description says", async () => {
  const scenarios = confusionScenarios(await confusedPairs([ORDERS, RETURNS], embed), [ORDERS, RETURNS]);
  assert.deepEqual(scenarios, [
    { name: "search_orders, not search_returns", request: "orders that were paid", expected_tool: "search_orders", forbidden_tools: ["search_returns"] },
    { name: "search_returns, not search_orders", request: "orders that came back", expected_tool: "search_returns", forbidden_tools: ["search_orders"] },
  ]);
});

test("two tools with one description are a pair that no request can tell apart", async () => {
  const twin = { ...ORDERS, name: "search_orders_2" };
  const pairs = await confusedPairs([ORDERS, twin], embed);
  assert.equal(pairs[0]?.parts.description, 1);
  assert.deepEqual(confusionScenarios(pairs, [ORDERS, twin]), []);
});

test("words that most descriptions share make no pair", async () => {
  const tools = ["alpha", "bravo", "charlie", "delta", "echo", "foxtrot"].map((word) => tool(word, `Use this tool when the user asks a question about ${word}.`));
  assert.deepEqual(await confusedPairs(tools, embed), []);
});

interface Counts {
  readonly pairs: number;
  readonly confusable: number;
  readonly precision: number;
  readonly recall: number;
}

async function measure(lists: readonly LabelledList[]): Promise<Counts> {
  const embedder = await openEmbedder({ ...SMALLEST_EMBEDDING, config: {} });
  const counts = { pairs: 0, confusable: 0, reported: 0, right: 0 };
  for (const { title, tools, confusable } of lists) {
    const names = new Set(tools.map(({ name }) => name));
    for (const name of confusable.flat()) assert.ok(names.has(name), `${title}: ${name}`);
    const pairs = await confusedPairs(tools.map(({ name, description, args }) => tool(name, description, args)), (texts) => embedder.embed(texts, new AbortController().signal));
    counts.pairs += (tools.length * (tools.length - 1)) / 2;
    counts.confusable += confusable.length;
    counts.reported += pairs.length;
    counts.right += pairs.filter((pair) => confusable.some((one) => one.includes(pair.a) && one.includes(pair.b))).length;
  }
  return { pairs: counts.pairs, confusable: counts.confusable, precision: counts.right / counts.reported, recall: counts.right / counts.confusable };
}

/** The page says the figures that the code has. */
function assertStated(lists: readonly LabelledList[], { pairs, confusable, precision, recall }: Counts): void {
  const stated = `${pairs} pairs of ${lists.length} lists, ${confusable} of them confusable: precision ${precision.toFixed(2)}, recall ${recall.toFixed(2)}`;
  assert.ok(readFileSync(repo("docs/evals.md"), "utf8").replaceAll(/\s+/g, " ").includes(stated), stated);
}

test("on the labelled pairs the threshold has the precision and the recall that the page states", async () => {
  const counts = await measure(LISTS);
  assert.ok(counts.pairs >= 300 && counts.confusable >= 20, JSON.stringify(counts));
  assert.ok(counts.precision >= 0.8 && counts.recall >= 0.95, JSON.stringify(counts));
  assertStated(LISTS, counts);
});

test("on held-out lists of other kinds the page states what it finds, and that synonyms are not found", async () => {
  const known = new Set(LISTS.flatMap(({ tools }) => tools.map(({ name }) => name)));
  const shared = HELD_OUT.flatMap(({ tools }) => tools.filter(({ name, description }) => known.has(name) && LISTS.some((list) => list.tools.some((one) => one.description === description))));
  assert.deepEqual(shared, [], "no tool had a part in choosing the threshold");
  const counts = await measure(HELD_OUT);
  assert.ok(counts.pairs >= 300 && counts.confusable >= 15, JSON.stringify(counts));
  assertStated(HELD_OUT, counts);
});

test("300 tools are compared in 5 s of processor time, the likest pairs first and no more than 200", async () => {
  const tools = Array.from({ length: 300 }, (_, n) => tool(`search_topic_${n}`, `Search the documents of department ${n % 30} about topic ${n}, newest first. Use when the user asks for them.`, ["query", `field_${n}`, "state"]));
  const before = process.cpuUsage();
  const pairs = await confusedPairs(tools, embed);
  const { user, system } = process.cpuUsage(before);
  const seconds = (user + system) / 1e6;
  assert.ok(seconds < 5, `${seconds} s`);
  assert.equal(pairs.length, 200);
  assert.ok(pairs.every(({ likeness }, index) => index === 0 || likeness <= (pairs[index - 1]?.likeness ?? 0)));
}, { timeoutMs: 60_000 });

test.run();
