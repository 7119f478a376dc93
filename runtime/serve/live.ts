/**
 * A catalog that is reloaded while it is served. Each load is a generation: a message is answered from the newest
 * one, a call that runs finishes on the one it began with, and that one is closed when its last call has ended.
 */
import type { Engine, Program } from "../abi/call.js";
import { notificationText } from "../mcp/jsonrpc.js";
import type { McpServer } from "../mcp/server.js";
import { Idle } from "./idle.js";

/** Where reloaded programs come from: the compiler, which this side does not know. */
export interface ProgramSource {
  /** Name for messages: `tools.yaml`. */
  readonly name: string;
  /** Calls `onChange` after the files may have changed; returns what stops it. */
  watch(onChange: () => void): () => void;
  /** The program as the files are now, or `null` when they are broken, which has been told. */
  load(): Promise<Program | null>;
}

export interface LiveParts {
  readonly source: ProgramSource;
  /** @throws ToolError when this runtime cannot run the program, or values for it are missing. */
  readonly start: (program: Program) => McpServer;
  /** Sends a notification to the client, once it has initialized. */
  readonly notify: (text: string) => void;
  readonly note: (text: string) => void;
  /** Words for an error that kept a program from starting; `null` for a bug. */
  readonly explain: (error: unknown) => string | null;
}

/** The newest generation, and the reloading behind it. */
export class Live {
  private generation: Generation;
  private reloading: Promise<void> | null = null;
  private again = false;
  private readonly stopWatching: () => void;
  private stopped = false;

  constructor(
    first: Program,
    private readonly parts: LiveParts,
  ) {
    this.generation = this.begin(first);
    this.stopWatching = parts.source.watch(() => this.changed());
  }

  get mcp(): McpServer {
    return this.generation.mcp;
  }

  /** Stops watching and closes what is open. Resolves when a reload that runs has ended. */
  async close(): Promise<void> {
    this.stopped = true;
    this.stopWatching();
    await this.reloading;
    await this.generation.mcp.engine.close();
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
      const program = await source.load();
      if (program === null) return kept(`${source.name} has errors`);
      const before = this.generation.mcp.engine.program;
      if (program.catalog.hash === before.catalog.hash) return;
      this.swap(this.begin(program));
      note(`reloaded ${source.name} — ${program.tools.length} tool${program.tools.length === 1 ? "" : "s"}\n`);
      if (JSON.stringify(program.tools) !== JSON.stringify(before.tools)) this.parts.notify(notificationText("notifications/tools/list_changed"));
    } catch (error) {
      kept(`${source.name} cannot be served: ${this.parts.explain(error) ?? "internal error"}`);
    }
  }

  private begin(program: Program): Generation {
    const calls = new Idle();
    const mcp = this.parts.start(program);
    return { calls, mcp: { ...mcp, engine: countCalls(mcp.engine, calls) } };
  }

  /** The old generation is closed behind its last call, which nobody waits for. */
  private swap(next: Generation): void {
    const old = this.generation;
    this.generation = next;
    void old.calls.wait(Number.POSITIVE_INFINITY).then(() => old.mcp.engine.close()).catch(() => undefined);
  }
}

interface Generation {
  readonly mcp: McpServer;
  readonly calls: Idle;
}

function countCalls(engine: Engine, calls: Idle): Engine {
  return {
    ...engine,
    call(tool, args, caller) {
      calls.begin();
      return engine.call(tool, args, caller).finally(() => calls.end());
    },
  };
}
