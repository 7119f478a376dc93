/** Orders in the answers of services. Pure. */
import { BackendError } from "../abi/errors.js";
import { isRecord } from "../base/paths.js";

/**
 * The indexes that an answer names, first the best: `results` or `indexes`, whose items are `{index}` or numbers. Items
 * that are no index of a document, or name one again, count for nothing. An empty list is the order as it was.
 * @throws BackendError for an answer without such a list, or with no index of a document in it.
 */
export function readOrder(answer: unknown, documents: number, provider: string): readonly number[] {
  const list = isRecord(answer) ? [answer["results"], answer["indexes"]].find(Array.isArray) : undefined;
  if (list === undefined) throw new BackendError("internal", provider, `rerank provider '${provider}' answers without a list of results`);
  if (list.length === 0) return Array.from({ length: documents }, (_, index) => index);
  const indexes = list.map((item: unknown) => (isRecord(item) ? item["index"] : item));
  const order = new Set(indexes.filter((index): index is number => Number.isInteger(index) && (index as number) >= 0 && (index as number) < documents));
  if (order.size === 0) throw new BackendError("internal", provider, `rerank provider '${provider}' names none of the ${documents} documents`);
  return [...order];
}
