/**
 * The file of a connection as it is open now. SQLite reads on in a file that another one has taken the place of, and
 * threads that are started later would read the new one: so reads look for a new file, at most once a second.
 */
import { stat } from "node:fs/promises";
import { performance } from "node:perf_hooks";
import type { Place } from "./database.js";
import { Lists } from "./lists.js";
import { SearchPool } from "./search-pool.js";
import { Session, SnapshotPool } from "./session.js";

/** Milliseconds between two looks. */
const LOOK_EVERY_MS = 1_000;
/** Milliseconds after which no work of the event loop can be waiting for the old file: its retries end before. */
const RETIRE_AFTER_MS = 10_000;

/** Everything that reads one file. */
export class OpenFile {
  /** For searches that take several turns. */
  readonly snapshots: SnapshotPool;
  /** For reads that would keep the event loop from other requests. */
  readonly searches: SearchPool;
  readonly lists: Lists;

  private constructor(
    /** For work that one turn of the event loop does. */
    readonly main: Session,
    place: Place,
    codesMemoryBytes: number,
    /** Device and number of the file. */
    readonly identity: string,
  ) {
    this.snapshots = new SnapshotPool(place);
    this.searches = new SearchPool(place, { codesMemoryBytes });
    this.lists = new Lists(main, this.searches);
  }

  /** @throws BackendError as openDatabase */
  static async open(place: Place, codesMemoryBytes: number): Promise<OpenFile> {
    // Looked at before it is opened: if it is replaced in between, the next look opens it again.
    const identity = await identityOf(place);
    return new OpenFile(await Session.open(place), place, codesMemoryBytes, identity ?? "");
  }

  /** Ends what is idle now; searches that run end what they use. */
  closePools(): void {
    this.snapshots.close();
    this.searches.close();
  }
}

export class CurrentFile {
  readonly #place: Place;
  readonly #codesMemoryBytes: number;
  #open: OpenFile;
  #lookedMs = performance.now();
  /** Why the file that is there now is not used; `null` when it is. */
  #problem: unknown = null;
  readonly #retiring = new Map<OpenFile, NodeJS.Timeout>();

  private constructor(place: Place, codesMemoryBytes: number, open: OpenFile) {
    this.#place = place;
    this.#codesMemoryBytes = codesMemoryBytes;
    this.#open = open;
  }

  /** @throws BackendError as openDatabase */
  static async open(place: Place, codesMemoryBytes: number): Promise<CurrentFile> {
    return new CurrentFile(place, codesMemoryBytes, await OpenFile.open(place, codesMemoryBytes));
  }

  /** Without a look at the disk. */
  get last(): OpenFile {
    return this.#open;
  }

  /** The file to read; a promise once a second, because most reads are shorter than a promise. */
  get(): OpenFile | Promise<OpenFile> {
    return performance.now() - this.#lookedMs < LOOK_EVERY_MS ? this.#open : this.#look();
  }

  /** @throws BackendError when the file was replaced by one that cannot be read; the old one is read meanwhile. */
  async check(): Promise<OpenFile> {
    const file = await this.#look();
    if (this.#problem !== null) throw this.#problem;
    return file;
  }

  close(): void {
    for (const [file, timer] of this.#retiring) {
      clearTimeout(timer);
      file.main.close();
    }
    this.#retiring.clear();
    this.#open.main.close();
    this.#open.closePools();
  }

  async #look(): Promise<OpenFile> {
    this.#lookedMs = performance.now();
    const before = this.#open;
    const identity = await identityOf(this.#place);
    // A file that is gone may be on its way: its rows are still here.
    if (identity === null || identity === before.identity) {
      this.#problem = null;
      return this.#open;
    }
    try {
      const found = await OpenFile.open(this.#place, this.#codesMemoryBytes);
      this.#problem = null;
      if (this.#open === before) this.#use(found);
      else {
        found.closePools();
        found.main.close();
      }
    } catch (error) {
      this.#problem = error;
    }
    return this.#open;
  }

  #use(found: OpenFile): void {
    const old = this.#open;
    this.#open = found;
    old.closePools();
    const timer = setTimeout(() => {
      this.#retiring.delete(old);
      old.main.close();
    }, RETIRE_AFTER_MS);
    this.#retiring.set(old, timer.unref());
  }
}

async function identityOf({ file }: Place): Promise<string | null> {
  const found = await stat(file, { bigint: true }).catch(() => null);
  return found === null ? null : `${found.dev}:${found.ino}`;
}
