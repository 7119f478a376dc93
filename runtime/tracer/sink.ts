/** Where a tracer's events go: to a service over HTTP, in batches, without ever holding up or failing the host program. */

export type TraceEvent = { readonly [field: string]: unknown };

export interface TraceSink {
  /** Takes an event; when there is no room it is counted in `dropped`. Never throws. */
  emit(event: TraceEvent): void;
  /** Tells which tools an MCP server offers. */
  registerTools(server: string, tools: readonly string[]): void;
  /** Resolves when everything emitted so far was sent, or given up. */
  flush(): Promise<void>;
  readonly dropped: number;
}

export interface HttpSinkOptions {
  /** Address of the service. */
  readonly url: string;
  readonly token?: string;
  /** Events that may wait; 50,000 by default. */
  readonly maxQueue?: number;
  readonly batchSize?: number;
  /** Time that events may wait to be sent together. */
  readonly lingerMs?: number;
  readonly fetch?: typeof fetch;
}

const RETRIES = 5;
const RETRY_MS = 200;

export function createHttpSink(options: HttpSinkOptions): TraceSink {
  const { url, token, maxQueue = 50_000, batchSize = 500, lingerMs = 50 } = options;
  const send = options.fetch ?? fetch;
  const headers = { "content-type": "application/json", ...(token === undefined ? {} : { authorization: `Bearer ${token}` }) };
  let queue: TraceEvent[] = [];
  let dropped = 0;
  let timer: NodeJS.Timeout | null = null;
  let work: Promise<void> = Promise.resolve();

  const post = async (path: string, body: unknown): Promise<boolean> => {
    for (let attempt = 0; attempt < RETRIES; attempt++) {
      try {
        const answer = await send(new URL(path, `${url.replace(/\/$/, "")}/`), { method: "POST", headers, body: JSON.stringify(body) });
        await answer.arrayBuffer();
        if (answer.ok) return true;
        // Anything else is not cured by trying again.
        if (answer.status !== 429 && answer.status < 500) return false;
      } catch {
        // Nobody listens, perhaps not yet.
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS * 2 ** attempt).unref());
    }
    return false;
  };
  const drain = async (): Promise<void> => {
    while (queue.length > 0) {
      const batch = queue.slice(0, batchSize);
      queue = queue.slice(batch.length);
      if (!(await post("api/ingest", batch))) dropped += batch.length;
    }
  };
  const schedule = (): void => {
    if (timer !== null) return;
    timer = setTimeout(() => {
      timer = null;
      work = work.then(drain);
    }, lingerMs);
    timer.unref();
  };
  return {
    emit(event) {
      if (queue.length >= maxQueue) {
        dropped += 1;
        return;
      }
      queue.push(event);
      schedule();
    },
    registerTools(server, tools) {
      work = work.then(async () => void (await post("api/tools", { server, tools })));
    },
    async flush() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      work = work.then(drain);
      await work;
    },
    get dropped() {
      return dropped;
    },
  };
}
