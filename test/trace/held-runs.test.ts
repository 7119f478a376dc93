/** Runs in memory while events come in: which of them are let go, and when. */
import assert from "node:assert/strict";
import { RunCalls } from "../../runtime/trace/record/calls.js";
import { HeldRuns } from "../../runtime/trace/record/held-runs.js";
import { newRun, type RunState } from "../../runtime/trace/record/run-state.js";
import { suite } from "../lib/suite.js";

const test = suite("trace: runs in memory");

function heldRuns(): { readonly runs: HeldRuns; run(id: string, calls: readonly string[]): RunState } {
  let key = 0;
  const none = (): never => assert.fail("not asked for here");
  const runs = new HeldRuns({ run: () => null, holder: () => null, hasEvent: none, events: none, unrooted: none, nextSeq: none, nextKey: none });
  return {
    runs,
    run(id, calls) {
      const run = newRun((key += 1), id, 0, new RunCalls());
      runs.add(run);
      for (const call of calls) runs.change(run, call, (own) => own.place(call, null));
      return run;
    },
  };
}

test("runs used least recently are let go when there are more than 30,000 calls, those of the batch stay", () => {
  const { runs, run } = heldRuns();
  const many = (name: string): string[] => Array.from({ length: 12_000 }, (_, index) => `${name}${index}`);
  const [first, second, third] = [run("first", many("a")), run("second", many("b")), run("third", many("c"))];
  runs.touch(second);
  runs.trim(new Set([first]));
  assert.deepEqual(runs.lacks(["first", "second", "third"]).runs, ["third"]);
  assert.deepEqual([runs.inside("a0"), runs.inside("b0"), runs.inside("c0")], [first, second, null]);
  assert.equal(third.calls.size, 12_000);
});

test("calls that two runs had in common are counted once after they became one, however often that happens", () => {
  const { runs, run } = heldRuns();
  const kept = run("kept", ["kept"]);
  const into = run("into", ["shared"]);
  for (let turn = 0; turn < 40_000; turn += 1) {
    runs.merge(run("early", ["shared"]), into);
    runs.drop("early");
  }
  runs.trim(new Set());
  assert.deepEqual([runs.inside("kept"), runs.inside("shared"), into.calls.size], [kept, into, 1]);
});

test.run();
