/** Writing to a store and reading from it, as the tests of the contract do. */
import type { BatchOutcome, RunListQuery } from "../../../runtime/trace/store/store.js";
import { incoming, type Json } from "../lib.js";
import type { TestStore } from "../stores.js";

export function record(store: TestStore, events: readonly Json[]): Promise<BatchOutcome> {
  return store.writer.write(events.map(incoming));
}

/** The steps of a run, payloads left out; none for an unknown run. */
export async function steps(store: TestStore, runId: string): Promise<Json[]> {
  const page = await store.reader.steps({ runId, cursor: null, limit: 5000, extended: true, payloads: false, separator: ",", sinceSeq: 0, untilSeq: Number.MAX_SAFE_INTEGER });
  return page === null ? [] : (JSON.parse(`[${page.text}]`) as Json[]);
}

export function list(store: TestStore, query: Partial<RunListQuery> = {}): ReturnType<TestStore["reader"]["runs"]> {
  return store.reader.runs({ status: "all", limit: 50, offset: 0, extended: false, ...query });
}
