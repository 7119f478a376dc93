/** News of the writer's commits for live feeds and the exporter, as far as somebody subscribed to it. */
import type { Changes, EventRow } from "../../record/recorder.js";
import type { RunState } from "../../record/run-state.js";
import type { Tally } from "../../record/tally.js";
import { grownOf, storedStep, updatesOf, Watched } from "../news.js";
import type { Frame, Interest, News, RunUpdate } from "../store.js";

export class CommitNews {
  readonly watched = new Watched();
  #interest: Interest = { updates: false, growth: false };
  #nodes = new Set<string>();
  #edges = new Set<string>();

  /** `publicId` names a node of the graph as the API does. */
  constructor(private readonly publicId: (key: string) => string) {}

  listen(interest: Interest): void {
    this.#interest = interest;
  }

  /** News of a committed batch; `sizes` has the compressed sizes of its payloads by sequence number. */
  news(changes: Changes, sizes: ReadonlyMap<number, number>): News {
    this.changed(changes.tally);
    return { frames: this.#frames(changes.rows, sizes), updates: this.updates(changes), grown: this.#interest.growth ? grownOf(changes) : [] };
  }

  updates(changes: { readonly started: Set<RunState>; readonly ended: Set<RunState> }): RunUpdate[] {
    return this.#interest.updates ? updatesOf(changes) : [];
  }

  changed(tally: Pick<Tally, "nodes" | "edges">): void {
    if (!this.#interest.updates) return;
    for (const key of tally.nodes.keys()) this.#nodes.add(key);
    for (const key of tally.edges.keys()) this.#edges.add(key);
  }

  changedNode(key: string): void {
    this.#nodes.add(key);
  }

  /** Keys of nodes and edges that changed since the last call. */
  takeChanged(): { nodes: string[]; edges: string[] } {
    const taken = { nodes: [...this.#nodes], edges: [...this.#edges] };
    this.#nodes.clear();
    this.#edges.clear();
    return taken;
  }

  #frames(rows: readonly EventRow[], sizes: ReadonlyMap<number, number>): Frame[] {
    if (this.watched.size === 0) return [];
    const frames: Frame[] = [];
    for (const row of rows) {
      const frame = this.watched.frame(storedStep(row, sizes.get(row.seq) ?? null), this.publicId);
      if (frame !== null) frames.push(frame);
    }
    return frames;
  }
}
