/** Servers as processes: started, awaited, called over stdio or HTTP, and always stopped. */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";

export interface Served {
  readonly child: ChildProcessWithoutNullStreams;
  /** Everything written to standard error so far. */
  stderr(): string;
  /** Resolves when standard error matches. */
  sees(pattern: RegExp): Promise<RegExpExecArray>;
  /** Exit code, or the signal's name; resolves when the process has ended. */
  readonly ended: Promise<number | string>;
  kill(): Promise<void>;
}

export interface StartOptions {
  readonly cwd?: string;
  /** Flags of Node itself, after those that this process was started with. */
  readonly nodeArgs?: readonly string[];
  /** Variables beside those of this process. */
  readonly env?: { readonly [name: string]: string };
}

/** Starts `node file args`, with the flags that this process was started with. */
export function start(file: string, args: readonly string[] = [], { nodeArgs = [], env, ...options }: StartOptions = {}): Served {
  // Found from here, in whatever folder the server starts.
  const own = process.execArgv.map((flag) => (flag === "tsx" ? import.meta.resolve(flag) : flag));
  const child = spawn(process.execPath, [...own, ...nodeArgs, "--", file, ...args], { stdio: "pipe", ...options, ...(env === undefined ? {} : { env: { ...process.env, ...env } }) });
  let stderr = "";
  const watchers = new Set<() => void>();
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    for (const watch of watchers) watch();
  });
  child.stdin.on("error", () => undefined);
  const ended = new Promise<number | string>((resolve) => child.on("close", (code, signal) => resolve(code ?? signal ?? "unknown")));
  return {
    child,
    ended,
    stderr: () => stderr,
    sees: (pattern) =>
      new Promise((resolve, reject) => {
        const watch = (): void => {
          const found = pattern.exec(stderr);
          if (found === null) return;
          watchers.delete(watch);
          resolve(found);
        };
        watchers.add(watch);
        watch();
        void ended.then((code) => reject(new Error(`ended with ${code} before ${pattern} was seen:\n${stderr}`)));
      }),
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** A server that listens: its port, read from the banner. */
export async function startHttp(file: string, args: readonly string[] = []): Promise<Served & { readonly port: number; readonly url: string }> {
  const served = start(file, [...args, "--http", "127.0.0.1:0", "--auth", "none"]);
  const [url = "", port = ""] = await served.sees(/http:\/\/127\.0\.0\.1:(\d+)\/mcp/);
  return { ...served, url, port: Number(port) };
}

export type Json = { readonly [key: string]: unknown };

/** Requests and answers as lines over the standard streams. */
export class Lines {
  private text = "";
  private readonly lines: string[] = [];
  private wake: (() => void) | null = null;
  private closed = false;

  constructor(private readonly served: Served) {
    served.child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      this.text += chunk;
      const parts = this.text.split("\n");
      this.text = parts.pop() ?? "";
      this.lines.push(...parts);
      this.wake?.();
    });
    served.child.stdout.on("close", () => {
      this.closed = true;
      this.wake?.();
    });
  }

  write(text: string | Uint8Array): void {
    this.served.child.stdin.write(text);
  }

  send(message: Json | readonly Json[]): void {
    this.write(`${JSON.stringify(message)}\n`);
  }

  /** The next line as JSON; `null` when the server has closed its output. */
  async next(): Promise<Json | null> {
    while (this.lines.length === 0) {
      if (this.closed) return null;
      await new Promise<void>((resolve) => (this.wake = resolve));
    }
    return JSON.parse(this.lines.shift() as string) as Json;
  }

  /** Sends a request and returns the answer with its id, which must be the next line. */
  async ask(id: number | string, method: string, params?: Json): Promise<Json> {
    this.send({ jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) });
    const answer = await this.next();
    if (answer?.["id"] !== id) throw new Error(`expected the answer to ${id}, got ${JSON.stringify(answer)}`);
    return answer;
  }

  initialize(version = "2025-11-25"): Promise<Json> {
    return this.ask("init", "initialize", { protocolVersion: version, capabilities: {}, clientInfo: { name: "test", version: "1" } });
  }

  end(): void {
    this.served.child.stdin.end();
  }
}
