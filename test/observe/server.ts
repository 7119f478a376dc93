/** A tool server of this process, started as the command line starts one, and calls to it over HTTP. */
import { PassThrough } from "node:stream";
import type { Program } from "../../runtime/abi/call.js";
import { run } from "../../runtime/serve/main.js";
import { fixtureProgram } from "../mcp/program.js";
import { rawHttp, rawPost, type RawAnswer } from "../lib/raw-http.js";

export interface ObservedServer {
  readonly port: number;
  /** Everything on standard error so far. */
  notes(): string;
  get(path: string, method?: string): Promise<RawAnswer>;
  /** Calls a tool and returns its result. */
  call(tool: string, args?: unknown, meta?: { readonly [key: string]: unknown }, headers?: { readonly [name: string]: string }): Promise<ReturnType<typeof JSON.parse>>;
  /** Asks it to end, as SIGTERM does; resolves to the exit code. */
  stop(): Promise<number>;
}

/** The fixture's tools, with what a catalog says about observing them. */
export function observedProgram(observability: NonNullable<Program["settings"]["observability"]>): Program {
  return fixtureProgram({ observability });
}

/** @throws Error with standard error when it does not start. */
export async function observedServer(programs: { readonly [name: string]: Program }, words: readonly string[] = [], environment: { readonly [name: string]: string } = {}): Promise<ObservedServer> {
  const stopping = new AbortController();
  let notes = "";
  let wake = (): void => undefined;
  const io = {
    stdin: new PassThrough(), takeStdout: () => new PassThrough(), print: () => undefined, stop: stopping.signal, environment, now: () => performance.now(),
    note(text: string) {
      notes += text;
      wake();
    },
  };
  const ended = run(Object.entries(programs).map(([name, program]) => ({ name, program })), ["--http", "127.0.0.1:0", ...(words.includes("--auth") ? [] : ["--auth", "none"]), "--shutdown-grace-s", "1", ...words], io);
  const port = await new Promise<number>((resolve, reject) => {
    wake = () => {
      const [, found] = /on http:\/\/127\.0\.0\.1:(\d+)\/mcp/.exec(notes) ?? [];
      if (found !== undefined) resolve(Number(found));
    };
    void ended.then((code) => reject(new Error(`ended with ${code}: ${notes}`)));
  });
  return {
    port,
    notes: () => notes,
    get: (path, method = "GET") => rawHttp(port, `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`),
    async call(tool, args = {}, meta = {}, headers = {}) {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: args, _meta: meta } });
      const answer = await rawHttp(port, rawPost("/mcp", body, { accept: "application/json", "mcp-protocol-version": "2025-11-25", ...headers }));
      return JSON.parse(answer.body);
    },
    async stop() {
      stopping.abort();
      return ended;
    },
  };
}
