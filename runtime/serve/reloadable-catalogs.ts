/**
 * Catalogs that are reloaded while they are served. Each load of a catalog is a generation: a message is answered from
 * the newest one, a call that runs finishes on the one it began with, and that one is closed when its last call has
 * ended. A save that changes several catalogs swaps all of them at once, or none.
 */
import type { Engine, Principal } from "../abi/call.js";
import type { Project } from "../abi/projects.js";
import { projectOf, type Routing } from "../access/project.js";
import { promiseOf } from "../call/engine.js";
import { listedAlike, type McpServer } from "../mcp/server.js";
import { InFlight } from "./in-flight.js";

/** Where reloaded programs come from: the compiler, which this side does not know. */
export interface ProgramSource {
  /** Names for messages: `tools.yaml`. */
  readonly name: string;
  /** Calls `onChange` after the files may have changed; returns what stops it. */
  watch(onChange: () => void): () => void;
  /** The programs as the files are now, under the names they had, or `null` when one is broken, which has been reported. */
  load(): Promise<readonly Project[] | null>;
}

export interface ReloadableParts {
  readonly source: ProgramSource;
  readonly routing: Routing;
  /** @throws ToolError when this runtime cannot run the program, or values for it are missing. */
  readonly start: (project: Project) => McpServer;
  /** Comes after `start` of every changed catalog and before the first call. @throws StartError or ToolError when their calls could not be recorded as they ask. */
  readonly prepare: () => Promise<void>;
  /** The one caller, who is notified when its list of tools has changed. */
  readonly principal: Principal;
  readonly toolsChanged: () => void;
  readonly note: (text: string) => void;
  /** The message for an error that kept a program from starting; `null` for a bug. */
  readonly explain: (error: unknown) => string | null;
}

/** The newest generations, and the reloading behind them. */
export class ReloadableCatalogs {
  private readonly generations = new Map<string, Generation>();
  private reloading: Promise<void> | null = null;
  private again = false;
  private readonly stopWatching: () => void;
  private stopped = false;

  constructor(
    first: readonly Project[],
    private readonly parts: ReloadableParts,
  ) {
    for (const project of first) this.generations.set(project.name, this.begin(project));
    this.stopWatching = parts.source.watch(() => this.changed());
  }

  /** The newest generation of the catalog that the caller sees. */
  get mcp(): McpServer {
    const name = projectOf(this.parts.routing, this.parts.principal.claims);
    const generation = name === null ? undefined : this.generations.get(name);
    if (generation === undefined) throw new TypeError("the caller sees no catalog");
    return generation.mcp;
  }

  /** Stops watching and closes what is open. Resolves when a reload that runs has ended. */
  async close(): Promise<void> {
    this.stopped = true;
    this.stopWatching();
    await this.reloading;
    await Promise.all([...this.generations.values()].map(({ mcp }) => mcp.engine.close()));
  }

  /** One reload at a time; changes meanwhile make one more. */
  private changed(): void {
    if (this.stopped) return;
    if (this.reloading !== null) {
      this.again = true;
      return;
    }
    this.reloading = this.reload().finally(() => {
      this.reloading = null;
      if (!this.again) return;
      this.again = false;
      this.changed();
    });
  }

  private async reload(): Promise<void> {
    const { source, note } = this.parts;
    const kept = (why: string): void => note(`${why}; still serving the last good one\n`);
    try {
      const projects = await source.load();
      if (projects === null) return kept(`${source.name} ${this.generations.size === 1 ? "has" : "have"} errors`);
      const changed = projects.filter(({ name, program }) => program.catalog.hash !== this.generations.get(name)?.mcp.engine.program.catalog.hash);
      const next = await this.beginAll(changed);
      const before = this.mcp;
      for (const [name, generation] of next) this.swap(name, generation);
      for (const { program } of changed) note(`reloaded ${program.catalog.file} — ${program.tools.length} tool${program.tools.length === 1 ? "" : "s"}\n`);
      if (!listedAlike(before, this.mcp, this.parts.principal)) this.parts.toolsChanged();
    } catch (error) {
      kept(`${source.name} cannot be served: ${this.parts.explain(error) ?? "internal error"}`);
    }
  }

  /** All of them begin before one of them is served, or none stays open: a save is taken whole or not at all. */
  private async beginAll(projects: readonly Project[]): Promise<ReadonlyMap<string, Generation>> {
    const begun = new Map<string, Generation>();
    try {
      for (const project of projects) begun.set(project.name, this.begin(project));
      await this.parts.prepare();
      return begun;
    } catch (error) {
      await Promise.all([...begun.values()].map(({ mcp }) => mcp.engine.close()));
      throw error;
    }
  }

  private begin(project: Project): Generation {
    const calls = new InFlight();
    const mcp = this.parts.start(project);
    return { calls, mcp: { ...mcp, engine: countCalls(mcp.engine, calls) } };
  }

  /** The old generation is closed after its last call, in the background. */
  private swap(name: string, next: Generation): void {
    const old = this.generations.get(name);
    this.generations.set(name, next);
    if (old !== undefined) void old.calls.wait(Number.POSITIVE_INFINITY).then(() => old.mcp.engine.close()).catch(() => undefined);
  }
}

interface Generation {
  readonly mcp: McpServer;
  readonly calls: InFlight;
}

function countCalls(engine: Engine, calls: InFlight): Engine {
  const run: Engine["run"] = (tool, args, caller, end) => {
    calls.begin();
    engine.run(tool, args, caller, {
      done(envelope) {
        calls.end();
        end.done(envelope);
      },
      doneExtra(result) {
        calls.end();
        end.doneExtra(result);
      },
      failed(error) {
        calls.end();
        end.failed(error);
      },
    });
  };
  return { ...engine, run, call: (tool, args, caller) => promiseOf(run, tool, args, caller) };
}
