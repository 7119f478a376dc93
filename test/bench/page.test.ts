/** What the benchmark page says of rows that have a figure, cannot have one here, or came to none. */
import assert from "node:assert/strict";
import { atMost, inTurn, isMet, versus, type BenchCase, type Row } from "../../bench/lib/case.js";
import { pageOf, printed } from "../../bench/lib/page.js";
import { suite } from "../lib/suite.js";

const test = suite("benchmark page");

function lineOf(row: Row): string {
  const entry: BenchCase = { name: "some", summary: "something", run: async () => [row] };
  const page = pageOf({ machine: "a machine", cases: { some: [row] } }, [entry]);
  return page.split("\n").find((line) => line.startsWith(`| ${row.what} |`)) ?? "";
}

test("a ratio is the median of the rounds' ratios, not the ratio of the medians", () => {
  const row = versus("calls", "raw", "/s", { ours: [10, 40, 90], peer: [20, 50, 100] }, { atLeast: 0.8 });
  assert.equal(lineOf(row), "| calls | 40 /s | raw: 50 /s | 0.80 | 0.50–0.90 (3) | ≥ 0.8 | met |");
});

test("a row with a budget shows the budget as its goal", () => {
  assert.equal(lineOf(atMost("p99", [4, 6, 7], 5, "ms")), "| p99 | 6 ms |  |  | 4–7 (3) | ≤ 5 ms | **missed** |");
});

test("counts have no unit", () => {
  assert.equal(lineOf(versus("instructions", "raw", "", { ours: [3000], peer: [1500] }, null)), "| instructions | 3,000 | raw: 1,500 | 2 | 2–2 (1) |  |  |");
});

test("a row that cannot be measured here is no missed goal and says why", () => {
  const row: Row = { what: "counts", skipped: "valgrind is not installed" };
  assert.equal(isMet(row), true);
  assert.equal(lineOf(row), "| counts | | | | | | not measured: valgrind is not installed |");
});

test("a row that came to no figure is a missed goal and says why", () => {
  const row: Row = { what: "p99", failed: "the machine is too busy to tell" };
  assert.equal(isMet(row), false);
  assert.equal(lineOf(row), "| p99 | | | | | | **missed**: the machine is too busy to tell |");
  assert.equal(printed(row), "p99: missed: the machine is too busy to tell");
});

test("a case says what others had of the machine", () => {
  const entry: BenchCase = { name: "some", summary: "something", method: "Somehow.", run: async () => [] };
  const page = pageOf({ machine: "a machine", cases: { some: [] }, others: { some: 0.314 } }, [entry]);
  assert.match(page, /^Measures something\. Somehow\. Meanwhile others had 31 % of a core\.$/m);
});

test("sides are measured in turn, and who goes first alternates", async () => {
  const order: string[] = [];
  const results = await inTurn(3, { ours: async () => order.push("ours"), peer: async () => order.push("peer") });
  assert.deepEqual(order, ["ours", "peer", "peer", "ours", "ours", "peer"]);
  assert.deepEqual(results, { ours: [1, 4, 5], peer: [2, 3, 6] });
});

test.run();
