/**
 * Reranking: the first rows of a search in the order of another model. It sees redacted rows only: the model may be
 * someone else's, and what must not reach the caller must not reach them either.
 */
import type { CallContext } from "../../abi/call.js";
import type { Row } from "../../abi/filter.js";
import type { RerankPlan } from "../../abi/plan.js";
import { tryStep } from "./degrade.js";

/** Result warning: rows have the order of the search. */
const FAILED = "VB4031";

/** Fields that hold the text of a record, in the order they are looked for. */
const TEXT_FIELDS = ["text", "_document", "content", "body", "title"] as const;

/** Longest text of one row that is sent, in characters; models read less. */
const MAX_DOCUMENT = 10_000;

/**
 * The rows in their new order. The first `retrieve_k` are looked at; of these the ones that the model leaves out are
 * dropped, and the others follow behind as they were. The rows as they were when the model fails.
 */
export async function rerankRows(plan: RerankPlan, rows: readonly Row[], text: string, call: CallContext): Promise<readonly Row[]> {
  const asked = rows.slice(0, plan.retrieve_k);
  if (asked.length === 0) return rows;
  const order = await tryStep({
    part: plan, code: FAILED, operation: "rerank", share: 2 / 3,
    work: async (signal) => (await call.services.reranker(plan)).order(text, asked.map(documentOf), signal),
    count: (indexes) => indexes.length,
  }, call);
  return order === null ? rows : [...order.flatMap((index) => asked.slice(index, index + 1)), ...rows.slice(asked.length)];
}

/** The text of a row: the first of the usual fields that has one, else all its values. */
export function documentOf(row: Row): string {
  const text = TEXT_FIELDS.map((field) => row[field]).find((value) => typeof value === "string" && value !== "");
  const shown = typeof text === "string" ? text : Object.entries(row).flatMap(([key, value]) => (key === "_id" || key === "_score" || value === null ? [] : [plain(value)])).join(" ");
  // A cut in the middle of a surrogate pair is no text that a service takes.
  return Buffer.from(shown.slice(0, MAX_DOCUMENT)).toString();
}

function plain(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value) ?? "";
}
