/** A live feed that comes back by itself. Knows neither what the frames mean nor the browser: both are handed in. */
import { backoffMs } from "../model/backoff.js";

/** What a feed needs of a WebSocket. */
export interface Socket {
  onopen: (() => void) | null;
  onmessage: ((event: { readonly data: unknown }) => void) | null;
  onclose: ((event: { readonly code: number }) => void) | null;
  close(): void;
}

export type FeedState =
  | { readonly kind: "connecting" }
  | { readonly kind: "live" }
  /** Tries again at `atMs` by the feed's clock. */
  | { readonly kind: "waiting"; readonly atMs: number }
  /** The token is missing or wrong; `retry` starts again. */
  | { readonly kind: "refused" }
  | { readonly kind: "closed" };

export interface FeedOptions {
  /** Called for every connection, so that it can resume where the last one ended. */
  readonly connect: () => Socket;
  readonly onFrame: (frame: unknown) => void;
  readonly onState: (state: FeedState) => void;
  /** A connection that is silent for so long is given up; 0 is never. */
  readonly silenceMs: number;
  readonly now: () => number;
  readonly random: () => number;
  /** Calls back once and returns how to prevent that. */
  readonly after: (ms: number, run: () => void) => () => void;
}

export interface Feed {
  /** Connects at once instead of waiting. */
  retry(): void;
  close(): void;
}

/** Close code of a missing or wrong token. */
export const UNAUTHORIZED = 4401;

export function openFeed(options: FeedOptions): Feed {
  let socket: Socket | null = null;
  let failures = 0;
  let cancel: () => void = () => undefined;
  let ended = false;

  const drop = (): void => {
    if (socket === null) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
    socket = null;
  };
  const wait = (): void => {
    failures += 1;
    const ms = backoffMs(failures, options.random());
    options.onState({ kind: "waiting", atMs: options.now() + ms });
    cancel = options.after(ms, connect);
  };
  const watch = (): void => {
    if (options.silenceMs === 0) return;
    cancel();
    cancel = options.after(options.silenceMs, () => {
      drop();
      wait();
    });
  };
  function connect(): void {
    cancel();
    drop();
    if (ended) return;
    options.onState({ kind: "connecting" });
    const opened = options.connect();
    socket = opened;
    watch();
    opened.onopen = () => {
      watch();
      options.onState({ kind: "live" });
    };
    opened.onmessage = ({ data }) => {
      // A frame shows that the service serves; an upgrade alone may be followed by a refusal.
      failures = 0;
      watch();
      if (typeof data === "string") options.onFrame(JSON.parse(data));
    };
    opened.onclose = ({ code }) => {
      cancel();
      drop();
      if (code === UNAUTHORIZED) options.onState({ kind: "refused" });
      else wait();
    };
  }
  connect();
  return {
    retry() {
      failures = 0;
      connect();
    },
    close() {
      ended = true;
      cancel();
      drop();
      options.onState({ kind: "closed" });
    },
  };
}
