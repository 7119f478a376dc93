/** News of commits for live feeds and the exporter, of this writer and of other processes, as far as somebody subscribed to it. */
import type { Incoming } from "../../model.js";
import type { Changes } from "../../record/recorder.js";
import type { RunState } from "../../record/run-state.js";
import { grownOf, runUpdate, storedStep, updatesOf, Watched } from "../news.js";
import { type EventRecord, stepRow } from "../rows.js";
import type { Frame, Interest, News, RunUpdate } from "../store.js";
import { type Client, messageOf } from "./driver.js";
import type { Entry, LoggedEntry } from "./journal.js";
import { runsById } from "./run-table.js";
import { EVENT_COLUMNS_OF_E } from "./source.js";
import { loadIds } from "./sums.js";

/** Payloads of a batch, compressed. */
export type Packed = ReadonlyMap<Incoming, Uint8Array>;

export class CommitNews {
  readonly watched = new Watched();
  #interest: Interest = { updates: false, growth: false };
  #nodes = new Set<string>();
  #edges = new Set<string>();
  #ids: ReadonlyMap<string, string> | null = null;

  /** `id` names this writer in the log. */
  constructor(
    private readonly id: string,
    private readonly log: (message: string) => void,
  ) {}

  listen(interest: Interest): void {
    this.#interest = interest;
  }

  /** Keys of nodes and edges that changed since the last call. */
  takeChanged(): { nodes: string[]; edges: string[] } {
    const taken = { nodes: [...this.#nodes], edges: [...this.#edges] };
    this.#nodes.clear();
    this.#edges.clear();
    return taken;
  }

  /** Notes what a commit changed of the graph. */
  note(entry: Entry): void {
    if (entry.nodes.length > 0) this.#ids = null;
    if (!this.#interest.updates) return;
    for (const key of entry.nodes) this.#nodes.add(key);
    for (const key of entry.edges) this.#edges.add(key);
  }

  /** News of a batch that was written here. */
  async news(client: Client, changes: Changes, packed: Packed): Promise<News> {
    const frames: Frame[] = [];
    if (this.watched.size > 0) {
      const steps = changes.rows.map((row) => storedStep(row, packed.get(row.event)?.byteLength ?? null));
      const ids = await this.#publicIds(client).catch((error: unknown) => {
        this.log(`names of nodes can't be read: ${messageOf(error)}`);
        return new Map<string, string>();
      });
      for (const step of steps) {
        const frame = this.watched.frame(step, (key) => ids.get(key) ?? null);
        if (frame !== null) frames.push(frame);
      }
    }
    return { frames, updates: this.#interest.updates ? updatesOf(changes) : [], grown: this.#interest.growth ? grownOf(changes) : [] };
  }

  /** News of runs that were ended here, without an event. */
  ended(runs: Set<RunState>): News {
    return { frames: [], updates: this.#interest.updates ? updatesOf({ started: new Set(), ended: runs }) : [], grown: [] };
  }

  /**
   * News of commits that are read from the log: `entries`, with steps in (`from`, `to`]. Others made them, or this writer
   * did and did not see the end of its commit.
   */
  async logged(client: Client, entries: readonly LoggedEntry[], from: number, to: number): Promise<News> {
    const frames = this.watched.size > 0 ? await this.#loggedFrames(client, from, to) : [];
    const updates = this.#interest.updates ? await this.#loggedUpdates(client, entries) : [];
    return { frames, updates, grown: this.#interest.growth ? [...new Set(entries.flatMap((entry) => entry.runs))] : [] };
  }

  async #loggedFrames(client: Client, from: number, to: number): Promise<Frame[]> {
    const { rows } = await client.query<EventRecord & { root_id: string }>({
      name: "watched events", values: [from, to, [...this.watched.ids()]],
      text: `SELECT ${EVENT_COLUMNS_OF_E}, r.run_id AS root_id FROM events e JOIN runs r ON r.key = e.root WHERE e.seq > $1 AND e.seq <= $2 AND r.run_id = ANY($3) ORDER BY e.seq`,
    });
    const ids = rows.length === 0 ? new Map<string, string>() : await this.#publicIds(client);
    const frames: Frame[] = [];
    for (const row of rows) {
      const frame = this.watched.frame(stepRow(row, row.root_id), (key) => ids.get(key) ?? null);
      if (frame !== null) frames.push(frame);
    }
    return frames;
  }

  async #loggedUpdates(client: Client, entries: readonly LoggedEntry[]): Promise<RunUpdate[]> {
    const started = new Set(entries.flatMap((entry) => entry.started));
    const ended = new Map(entries.flatMap((entry) => entry.ended.map((id) => [id, entry.by === this.id] as const)));
    const updates: RunUpdate[] = [];
    for (const run of await runsById(client, [...new Set([...started, ...ended.keys()])])) {
      const own = ended.get(run.runId);
      if (started.has(run.runId)) updates.push(runUpdate("started", run, own ?? false));
      if (own !== undefined) updates.push(runUpdate("ended", run, own));
    }
    return updates;
  }

  async #publicIds(client: Client): Promise<ReadonlyMap<string, string>> {
    this.#ids ??= await loadIds(client);
    return this.#ids;
  }
}
