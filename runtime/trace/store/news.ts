/** News of a commit for the live feeds, in the shapes of the wire. */
import { detailsOf } from "../block.js";
import { RUNNING } from "../model.js";
import { final } from "../record/held-runs.js";
import type { Changes, EventRow } from "../record/recorder.js";
import type { RunRow } from "../record/run-state.js";
import { nodeKey } from "../record/tally.js";
import type { Frame, RunUpdate } from "./store.js";
import { runWire, runWireExtended, type StepRow, stepWire, stepWireExtended } from "./wire.js";

/** Runs that somebody follows, by id, with how many follow each shape. */
export class Watched {
  readonly #runs = new Map<string, { plain: number; extended: number }>();

  get size(): number {
    return this.#runs.size;
  }

  ids(): Iterable<string> {
    return this.#runs.keys();
  }

  add(rootId: string, extended: boolean): void {
    const held = this.#runs.get(rootId) ?? { plain: 0, extended: 0 };
    held[extended ? "extended" : "plain"] += 1;
    this.#runs.set(rootId, held);
  }

  remove(rootId: string, extended: boolean): void {
    const held = this.#runs.get(rootId);
    if (held === undefined) return;
    held[extended ? "extended" : "plain"] -= 1;
    if (held.plain + held.extended === 0) this.#runs.delete(rootId);
  }

  /** The frame of a step; `null` when nobody follows its run. `publicId` is asked for extended frames alone. */
  frame(step: StepRow, publicId: (key: string) => string | null): Frame | null {
    const watched = this.#runs.get(step.rootId);
    if (watched === undefined) return null;
    const key = nodeKey(step);
    return {
      rootId: step.rootId, runId: step.runId, seq: step.seq,
      plain: watched.plain > 0 ? JSON.stringify(stepWire(step)) : null,
      extended: watched.extended > 0 ? JSON.stringify(stepWireExtended(step, key === null ? null : publicId(key))) : null,
    };
  }
}

/** A recorded row as it is stored; `payload` is the compressed size of its payload. */
export function storedStep({ seq, run, event, parentId, durationMs, costNano, agent, tool, server, model }: EventRow, payload: number | null): StepRow {
  const { summary, attributes } = detailsOf(event);
  return {
    seq, rootId: final(run).runId, at: event.at, type: event.type, eventId: event.eventId, runId: event.runId, parentId, agent, tool, server,
    summary, payload, durationMs, tokensIn: event.tokensIn, tokensOut: event.tokensOut, error: event.error, model, costNano, attributes,
  };
}

export function runUpdate(change: RunUpdate["change"], run: RunRow, own = true): RunUpdate {
  // A start is announced as a running run, even when its end is already known.
  const shown = change === "started" ? { ...run, status: RUNNING, completedAt: null, error: null } : run;
  return { runId: run.runId, change, own, plain: JSON.stringify(runWire(shown)), extended: JSON.stringify(runWireExtended(shown)) };
}

/** A run that started and ended in one batch is announced twice. */
export function updatesOf({ started, ended }: Pick<Changes, "started" | "ended">): RunUpdate[] {
  return [...[...started].filter((run) => run.steps > 0).map((run) => runUpdate("started", run)), ...[...ended].map((run) => runUpdate("ended", run))];
}

/** Ids of runs that changed and are not announced as ended. */
export function grownOf(changes: Pick<Changes, "runs" | "ended">): string[] {
  return [...changes.runs].filter((run) => !changes.ended.has(run)).map((run) => run.runId);
}
