/** Exports of long runs: what is read of the store, and when. */
import assert from "node:assert/strict";
import { exportLines } from "../../runtime/trace/handlers/runs.js";
import type { TraceReader, TraceStore } from "../../runtime/trace/store/store.js";
import { suite } from "../lib/suite.js";
import { incoming, type Json } from "./lib.js";
import { sqliteStores } from "./stores.js";

const test = suite("trace export");

/** Steps of the run; a page has 500. */
const STEPS = 1200;

test("a page of a run is read when the one before has been taken, and none after the reader has gone", () =>
  sqliteStores().with(async (store) => {
    await store.writer.write(Array.from({ length: STEPS }, (_, index) => incoming({ run_id: "long", event_id: `e${index}`, event_type: "retry" })));
    let reads = 0;
    const steps: TraceReader["steps"] = (query) => {
      reads += 1;
      return store.reader.steps(query);
    };
    const counted: Pick<TraceStore, "read"> = { read: { steps } as TraceReader };
    const lines = exportLines(counted, "long", "{}", { extended: false, payloads: false });

    const read: (readonly [reads: number, steps: number])[] = [];
    for (let taken = 0; taken < 3; taken += 1) {
      const { value } = await lines.next();
      read.push([reads, String(value).trimEnd().split("\n").filter((line) => "event_id" in (JSON.parse(line) as Json)).length]);
    }
    assert.deepEqual(read, [[0, 0], [1, 500], [2, 500]]);
    await lines.return(undefined);
    assert.deepEqual([(await lines.next()).done, reads], [true, 2]);
  }));

test.run();
