/**
 * Where a tracer's events go: to a service over HTTP, in batches, without ever holding up or failing the host program.
 * Events wait as JSON text in a bounded queue while the service can't be reached. A program that has nothing left to
 * do sends what waits before it ends, for a few seconds at most. What is lost is counted, and reported once.
 */
import { processHost, type SinkHost } from "./host.js";

export type TraceEvent = { readonly [field: string]: unknown };

export interface TraceSink {
  /** Takes an event; when there is no room it is counted in `dropped`. Never throws. */
  emit(event: TraceEvent): void;
  /** Registers the tools that an MCP server offers. */
  registerTools(server: string, tools: readonly string[]): void;
  /** Resolves when everything emitted so far was sent, or given up: after five tries in a row that reach no service. Never rejects. */
  flush(): Promise<void>;
  readonly dropped: number;
}

export interface HttpSinkOptions {
  /** Address of the service. */
  readonly url: string;
  readonly token?: string;
  /** Events that may wait; 50,000 by default. */
  readonly maxQueue?: number;
  /** Bytes of JSON that may wait; 64 MiB by default. */
  readonly maxBytes?: number;
  readonly batchSize?: number;
  /** Time that events may wait to be sent together. */
  readonly lingerMs?: number;
  readonly fetch?: typeof fetch;
  /** The process around it; for tests. */
  readonly host?: SinkHost;
}

/** Tries of a flush without reaching the service. */
const FLUSH_TRIES = 5;
/** The same when the program has nothing else to do. */
const EXIT_TRIES = 4;
/** A try without an answer counts as so many: a program waits 1.5 s for an address where nothing listens, 4 s for one that never answers. */
const SILENT_TRIES = 3;
const RETRY_MS = 200;
const MAX_RETRY_MS = 5000;
/** A service that takes a connection and does not answer is one that can't be reached. */
const ANSWER_MS = 5000;
const EXIT_ANSWER_MS = 2000;
const BATCH_BYTES = 8 * 1024 * 1024;

/** "sent"; "refused": trying again is of no use; "away": not now; "large": in smaller parts perhaps. */
interface Outcome {
  readonly kind: "sent" | "refused" | "away" | "large";
  readonly why: string;
  /** The service took the request and did not answer. */
  readonly silent?: true;
}

export function createHttpSink(options: HttpSinkOptions): TraceSink {
  return new HttpSink(options);
}

class HttpSink implements TraceSink {
  #queue: string[] = [];
  #bytes = 0;
  readonly #tools = new Map<string, readonly string[]>();
  #dropped = 0;
  #reported = false;
  #timer: NodeJS.Timeout | null = null;
  #work: Promise<void> = Promise.resolve();
  #working = false;
  #failures = 0;
  /** Ends a wait between two tries. */
  #hurry: () => void = () => undefined;
  /** Tries of those who wait for the queue to become empty: timers keep the program alive then. */
  readonly #bounds = new Set<{ readonly tries: number }>();
  #lastFailure = "";
  #detach: (() => void) | null = null;
  readonly #host: SinkHost;

  constructor(private readonly options: HttpSinkOptions) {
    this.#host = options.host ?? processHost();
  }

  get dropped(): number {
    return this.#dropped;
  }

  emit(event: TraceEvent): void {
    try {
      const { maxQueue = 50_000, maxBytes = 64 * 1024 * 1024 } = this.options;
      const text = JSON.stringify(event);
      if (this.#queue.length >= maxQueue || this.#bytes + text.length > maxBytes) return this.#drop(1, this.#lastFailure === "" ? "more events than can be sent" : this.#lastFailure);
      this.#queue.push(text);
      this.#bytes += text.length;
      this.#schedule();
    } catch (error) {
      this.#drop(1, `an event can't be written as JSON: ${messageOf(error)}`);
    }
  }

  registerTools(server: string, tools: readonly string[]): void {
    this.#tools.set(server, tools);
    this.#schedule();
  }

  flush(): Promise<void> {
    return this.#flush(FLUSH_TRIES);
  }

  async #flush(tries: number): Promise<void> {
    const bound = { tries };
    this.#bounds.add(bound);
    this.#failures = 0;
    this.#hurry();
    await this.#start();
    this.#bounds.delete(bound);
  }

  /** Tries without reaching the service before what waits is given up; not bounded while nobody waits. */
  get #tries(): number {
    return Math.min(Number.POSITIVE_INFINITY, ...[...this.#bounds].map(({ tries }) => tries));
  }

  get #isEmpty(): boolean {
    return this.#queue.length === 0 && this.#tools.size === 0;
  }

  #schedule(): void {
    this.#detach ??= this.#host.onEnd(() => this.#idle(), () => this.#exit());
    if (this.#timer !== null || this.#working) return;
    this.#timer = setTimeout(() => void this.#start(), this.options.lingerMs ?? 50);
    this.#timer.unref();
  }

  #clearTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** The program has nothing left to do. */
  #idle(): void {
    if (!this.#isEmpty && this.#bounds.size === 0) void this.#flush(EXIT_TRIES);
  }

  /** The program ends at once: nothing can be sent any more. */
  #exit(): void {
    if (this.#queue.length > 0) this.#drop(this.#queue.length, "the program ended before they were sent; await flush() of the tracer before process.exit()");
  }

  /** One send at a time; resolves when all that waits now was sent or given up. */
  #start(): Promise<void> {
    this.#clearTimer();
    this.#work = this.#work.then(() => this.#drain());
    return this.#work;
  }

  async #drain(): Promise<void> {
    this.#working = true;
    while (!this.#isEmpty) {
      const outcome = await this.#sendNext();
      if (outcome.kind !== "away") {
        this.#failures = 0;
        continue;
      }
      this.#failures += outcome.silent === true ? SILENT_TRIES : 1;
      this.#lastFailure = outcome.why;
      if (this.#failures >= this.#tries) this.#giveUp(outcome.why);
      else await this.#pause();
    }
    this.#working = false;
    this.#detach?.();
    this.#detach = null;
  }

  async #sendNext(): Promise<Outcome> {
    const [tools] = this.#tools;
    if (tools !== undefined) {
      const [server, names] = tools;
      const outcome = await this.#post("api/tools", JSON.stringify({ server, tools: names }));
      if (outcome.kind !== "away" && this.#tools.get(server) === names) this.#tools.delete(server);
      if (outcome.kind !== "away" && outcome.kind !== "sent") this.#report(`the tools of ${server} are not registered`, outcome.why);
      return outcome;
    }
    let count = 0;
    let bytes = 0;
    for (const text of this.#queue) {
      if (count > 0 && (count >= (this.options.batchSize ?? 500) || bytes + text.length > BATCH_BYTES)) break;
      count += 1;
      bytes += text.length;
    }
    return this.#sendEvents(this.#queue.slice(0, count));
  }

  /** Sends events from the front of the queue; they leave it when they were sent or refused. */
  async #sendEvents(batch: readonly string[]): Promise<Outcome> {
    const outcome = await this.#post("api/ingest", `[${batch.join(",")}]`);
    if (outcome.kind === "away") return outcome;
    if (outcome.kind === "large" && batch.length > 1) return this.#sendEvents(batch.slice(0, Math.ceil(batch.length / 2)));
    this.#queue = this.#queue.slice(batch.length);
    this.#bytes = this.#queue.length === 0 ? 0 : this.#bytes - batch.reduce((sum, text) => sum + text.length, 0);
    if (outcome.kind !== "sent") this.#drop(batch.length, outcome.why);
    return outcome;
  }

  async #post(path: string, body: string): Promise<Outcome> {
    const { url, token } = this.options;
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), this.#tries <= EXIT_TRIES ? EXIT_ANSWER_MS : ANSWER_MS);
    try {
      const headers = { "content-type": "application/json", ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
      const answer = await (this.options.fetch ?? fetch)(new URL(path, `${url.replace(/\/$/, "")}/`), { method: "POST", headers, body, signal: controller.signal });
      const text = await answer.text();
      if (answer.ok) this.#countRejected(text);
      return outcomeOf(answer.status, token !== undefined);
    } catch (error) {
      if (controller.signal.aborted) return { kind: "away", why: "the service does not answer", silent: true };
      // An address or a token that can't be used stays so.
      const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
      const isUsage = error instanceof TypeError && error.cause === undefined;
      return { kind: isUsage ? "refused" : "away", why: isUsage ? `the service can't be asked: ${messageOf(error)}` : `nothing answers there (${messageOf(cause)})` };
    } finally {
      clearTimeout(timer);
    }
  }

  /** Events of a request that was taken and that are not stored. */
  #countRejected(text: string): void {
    if (!text.includes('"rejected":[{')) return;
    try {
      const { rejected } = JSON.parse(text) as { readonly rejected: readonly { readonly error: string }[] };
      this.#drop(rejected.length, `the service refuses them: ${rejected[0]?.error ?? ""}`);
    } catch {
      // Not an answer of the service; it said that it took the events.
    }
  }

  #giveUp(why: string): void {
    const count = this.#queue.length;
    this.#queue = [];
    this.#bytes = 0;
    this.#tools.clear();
    this.#failures = 0;
    if (count > 0) this.#drop(count, why);
  }

  #drop(count: number, why: string): void {
    this.#dropped += count;
    this.#report(`${count} trace event${count === 1 ? " is" : "s are"} lost`, why);
  }

  #report(what: string, why: string): void {
    if (this.#reported) return;
    this.#reported = true;
    try {
      this.#host.report(`toolsrv trace: ${what}: ${withoutSecrets(this.options.url)}: ${why}. More losses are counted and not reported.`);
    } catch {
      // Nobody can read it.
    }
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, Math.min(RETRY_MS * 2 ** (this.#failures - 1), MAX_RETRY_MS));
      // A program that has nothing else to do must not wait for the service: `beforeExit` comes, and bounds the tries.
      if (this.#tries === Number.POSITIVE_INFINITY) timer.unref();
      this.#hurry = () => (clearTimeout(timer), resolve());
    });
  }
}

function outcomeOf(status: number, hasToken: boolean): Outcome {
  if (status >= 200 && status < 300) return { kind: "sent", why: "" };
  if (status === 413) return { kind: "large", why: "the service answers 413: an event is too large" };
  if (status === 401 || status === 403) return { kind: "refused", why: `the service answers ${status}: ${hasToken ? "the token is not its auth_token" : "it needs a token"}` };
  return { kind: status === 408 || status === 429 || status >= 500 ? "away" : "refused", why: `the service answers ${status}${status === 404 ? ": is it the address of a trace service?" : ""}` };
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message || error.name : String(error)).split("\n", 1)[0] ?? "";
}

/** The address without credentials and query. */
function withoutSecrets(url: string): string {
  if (!URL.canParse(url)) return "the address of the service";
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === "/" ? "" : pathname}`;
}
