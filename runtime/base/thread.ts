/** Calls into a worker thread: one message a call, answered by id; errors keep their name and message. */
import { type MessagePort, type ResourceLimits, Worker } from "node:worker_threads";

interface CallMessage {
  readonly id: number;
  readonly method: string;
  readonly args: readonly unknown[];
}

interface AnswerMessage {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: { readonly name: string; readonly message: string };
}

/** What a thread tells without being asked. */
export interface NoticeMessage {
  readonly notice: string;
  readonly value: unknown;
}

/** An answer whose bytes are handed over instead of copied. */
export class HandedOver {
  constructor(
    readonly value: unknown,
    readonly bytes: readonly Uint8Array[],
  ) {}
}

export type Methods = { readonly [method: string]: (...args: never[]) => unknown };

/** Answers calls in a thread: at once, in the order in which they come, or when the promise that a method returns is settled. */
export function answerCalls(port: MessagePort, methods: Methods): void {
  const answer = (id: number, value: unknown): void => {
    if (value instanceof HandedOver) port.postMessage({ id, value: value.value } satisfies AnswerMessage, value.bytes.flatMap(ownMemory));
    else port.postMessage({ id, value } satisfies AnswerMessage);
  };
  const fail = (id: number, error: unknown): void =>
    port.postMessage({ id, error: { name: error instanceof Error ? error.name : "Error", message: error instanceof Error ? error.message : String(error) } } satisfies AnswerMessage);
  port.on("message", ({ id, method: name, args }: CallMessage) => {
    try {
      const method = methods[name] as ((...args: readonly unknown[]) => unknown) | undefined;
      if (method === undefined) throw new Error(`the thread has no ${name}`);
      const value = method(...args);
      if (value instanceof Promise) value.then((later) => answer(id, later), (error: unknown) => fail(id, error));
      else answer(id, value);
    } catch (error) {
      fail(id, error);
    }
  });
}

export interface ThreadOptions {
  readonly data: unknown;
  readonly onNotice?: (notice: string, value: unknown) => void;
  /** The thread ended on its own: a bug, or no memory. */
  readonly onDeath: (error: Error) => void;
  /** Bound of its long-lived objects. */
  readonly heapMb?: number;
  /** Bound of its short-lived objects. */
  readonly youngMb?: number;
}

/** A thread that answers calls. */
export class Thread {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
  #next = 1;
  #dead: Error | null = null;

  constructor(entry: URL, options: ThreadOptions) {
    this.#worker = startWorker(entry, options.data, { maxOldGenerationSizeMb: options.heapMb ?? HEAP_MB, maxYoungGenerationSizeMb: options.youngMb ?? YOUNG_MB });
    this.#worker.on("message", (message: AnswerMessage | NoticeMessage) => {
      if ("notice" in message) options.onNotice?.(message.notice, message.value);
      else this.#answer(message);
    });
    const die = (error: Error): void => {
      if (this.#dead !== null) return;
      this.#dead = error;
      for (const { reject } of this.#waiting.values()) reject(error);
      this.#waiting.clear();
      options.onDeath(error);
    };
    this.#worker.on("error", (thrown) => die(errorOf(thrown)));
    this.#worker.on("exit", () => die(new Error("the thread has ended")));
  }

  /** Calls that wait for their answer. */
  get pending(): number {
    return this.#waiting.size;
  }

  call(method: string, ...args: readonly unknown[]): Promise<unknown> {
    return this.#send(method, args, []);
  }

  /** A call whose first argument is bytes that are handed over instead of copied. */
  give(method: string, bytes: Uint8Array, ...rest: readonly unknown[]): Promise<unknown> {
    const transfer = ownMemory(bytes);
    // Bytes in shared memory would take all of that along.
    return this.#send(method, [transfer.length > 0 ? bytes : bytes.slice(), ...rest], transfer);
  }

  #send(method: string, args: readonly unknown[], transfer: readonly ArrayBuffer[]): Promise<unknown> {
    if (this.#dead !== null) return Promise.reject(this.#dead);
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, method, args } satisfies CallMessage, [...transfer]);
    });
  }

  /** Whether the process waits for the thread: an idle one must not keep a program alive that has nothing else to do. */
  keepProcess(keeps: boolean): void {
    if (keeps) this.#worker.ref();
    else this.#worker.unref();
  }

  /** Whether the thread has ended, on its own or by `close`. */
  get isDead(): boolean {
    return this.#dead !== null;
  }

  /** Ends the thread at once; calls that wait for an answer reject. */
  end(): void {
    void this.#worker.terminate();
  }

  /** Calls `close` in the thread, then ends it. */
  async close(): Promise<void> {
    if (this.#dead !== null) return;
    await this.call("close");
    this.#dead = new Error("the thread is closed");
    await this.#worker.terminate();
  }

  #answer(message: AnswerMessage): void {
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    if (message.error === undefined) waiting?.resolve(message.value);
    else waiting?.reject(Object.assign(new Error(message.error.message), { name: message.error.name }));
  }
}

/** The memory of bytes that can be handed over: all of it is theirs. */
function ownMemory(bytes: Uint8Array): ArrayBuffer[] {
  return bytes.buffer instanceof ArrayBuffer && bytes.byteLength === bytes.buffer.byteLength ? [bytes.buffer] : [];
}

const HEAP_MB = 384;
/**
 * Short-lived objects are most of what a thread makes; without a bound they are collected late and the memory of all
 * threads adds up.
 */
const YOUNG_MB = 8;

/** Errors of SQLite are no errors to the engine: what a thread throws of them arrives as an object with a code alone. */
function errorOf(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  const code = typeof thrown === "object" && thrown !== null && "code" in thrown ? String(thrown.code) : "the thread failed";
  return Object.assign(new Error(code), { name: code.startsWith("SQLITE_") ? "SqliteError" : "Error" });
}

/** Threads do not inherit the loader by which a development run reads TypeScript; they are given it. */
function startWorker(entry: URL, workerData: unknown, resourceLimits: ResourceLimits): Worker {
  if (!entry.pathname.endsWith(".ts")) return new Worker(entry, { workerData, resourceLimits });
  const bootstrap = `import("tsx/esm/api").then(({ register }) => { register(); return import(${JSON.stringify(entry.href)}); })`;
  return new Worker(bootstrap, { workerData, eval: true, execArgv: [], resourceLimits });
}

/** Address of a thread's code beside this file, whether it runs from its source or compiled. */
export function threadEntry(name: string, base: string): URL {
  return new URL(`${name}${base.endsWith(".ts") ? ".ts" : ".js"}`, base);
}
