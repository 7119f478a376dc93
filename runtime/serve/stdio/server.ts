/** MCP over stdio: one peer, its calls running side by side, answers as they are ready. */
import type { Principal } from "../../abi/call.js";
import type { Severity } from "../../abi/extra-tools.js";
import { bodyText, dispatch, intricateError, parseError } from "../../mcp/dispatch.js";
import { parseJson, TOO_INTRICATE } from "../../base/parse-json.js";
import type { Answer, Reply } from "../../mcp/answer.js";
import type { RequestId } from "../../mcp/jsonrpc.js";
import type { McpServer, Peer } from "../../mcp/server.js";
import type { ProtocolVersion } from "../../mcp/versions.js";
import { InFlight } from "../in-flight.js";
import { openLines, type LineOutput } from "../../transport/stdio.js";

/** As for HTTP bodies. */
const MAX_MESSAGE_BYTES = 4 * 1024 * 1024;

/** Nobody is authenticated on stdio: the process belongs to the user who started it. */
export const OWNER: Principal = { id: null, claims: {}, headers: {} };

export interface StdioServer {
  /** Resolves when the client has closed its end, or with the error that keeps answers from being written. */
  readonly ended: Promise<Error | null>;
  /** Calls that are running. */
  readonly inFlight: number;
  /** Stops taking messages; resolves when the running calls are answered and their answers read, or `graceMs` is over. */
  drain(graceMs: number): Promise<void>;
  /** Sends a notification, unless the client has not initialized yet. */
  notify(text: string): void;
}

export interface StdioStreams {
  readonly input: NodeJS.ReadableStream;
  readonly output: LineOutput;
}

/** Starts answering. `mcp` is asked for at each message, so that a reload takes effect with the next one. */
export function serveStdio(mcp: () => McpServer, { input, output }: StdioStreams, onInitialized: () => void): StdioServer {
  const peer = new StdioPeer(onInitialized, (text) => lines.send(text), mcp().newId());
  const inFlight = new InFlight();
  let draining = false;
  let resolveEnded: (outputError: Error | null) => void = () => undefined;
  const ended = new Promise<Error | null>((resolve) => {
    resolveEnded = resolve;
  });

  const send = (answered: Answer | null): void => {
    if (answered !== null) lines.send(bodyText(answered));
  };
  const reply: Reply = {
    answer(answered) {
      send(answered);
      inFlight.end();
    },
  };
  const onLine = (line: string): void => {
    if (draining) return;
    const value = parseJson(line);
    if (value === undefined || value === TOO_INTRICATE) {
      send(value === undefined ? parseError() : intricateError());
      return;
    }
    inFlight.begin();
    dispatch(mcp(), value, peer, reply);
  };
  const lines = openLines({ input, output, maxLineBytes: MAX_MESSAGE_BYTES, onLine, onBadLine: () => send(parseError()), onEnd: resolveEnded });

  return {
    ended,
    get inFlight() {
      return inFlight.running;
    },
    notify(text) {
      if (peer.version !== null) lines.send(text);
    },
    async drain(graceMs) {
      draining = true;
      let timer: NodeJS.Timeout | undefined;
      const over = new Promise<void>((resolve) => (timer = setTimeout(resolve, graceMs)));
      await inFlight.wait(graceMs);
      peer.cancelAll();
      // A client may have stopped reading for good.
      await Promise.race([lines.flush(), over]);
      clearTimeout(timer);
    },
  };
}

class StdioPeer implements Peer {
  readonly transport = "stdio";
  readonly principal = OWNER;
  readonly session: string;
  version: ProtocolVersion | null = null;
  /** Running calls; the controller is made when a call asks for its signal, or when it is cancelled. */
  private readonly calls = new Map<RequestId, AbortController | null>();
  logLevel: Severity | null = null;

  constructor(
    private readonly onAgreed: () => void,
    readonly notify: (text: string) => void,
    session: string,
  ) {
    this.session = session;
  }

  setLogLevel(level: Severity): void {
    this.logLevel = level;
  }

  agree(version: ProtocolVersion): void {
    this.version = version;
    this.onAgreed();
  }

  begin(id: RequestId): boolean {
    if (this.calls.has(id)) return false;
    this.calls.set(id, null);
    return true;
  }

  signal(id: RequestId): AbortSignal {
    return this.controller(id).signal;
  }

  end(id: RequestId): void {
    this.calls.delete(id);
  }

  cancel(id: RequestId): void {
    if (this.calls.has(id)) this.controller(id).abort();
  }

  cancelAll(): void {
    for (const id of this.calls.keys()) this.cancel(id);
  }

  private controller(id: RequestId): AbortController {
    const made = this.calls.get(id) ?? new AbortController();
    if (this.calls.has(id)) this.calls.set(id, made);
    return made;
  }
}
