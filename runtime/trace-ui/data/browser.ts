/** The clock, the storage and the clipboard of the browser: the only file of the pages that reads the time. */
import type { Feed, FeedState, Socket } from "./feed.js";
import { openFeed } from "./feed.js";

/** Milliseconds since the epoch. */
export function now(): number {
  return Date.now();
}

/** Resolves when what was drawn last is on the screen; soon for a page that nobody sees, which draws nothing. */
export function afterPaint(): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, UNSEEN_MS);
    requestAnimationFrame(() => {
      clearTimeout(timer);
      setTimeout(resolve, 0);
    });
  });
}

const UNSEEN_MS = 300;

/** A value that outlives a reload where the browser lets it; storage that is switched off is no error. */
export function readStored(area: "local" | "session", key: string): string | null {
  try {
    return storage(area).getItem(`toolsrv.${key}`);
  } catch {
    return null;
  }
}

export function writeStored(area: "local" | "session", key: string, value: string | null): void {
  try {
    if (value === null) storage(area).removeItem(`toolsrv.${key}`);
    else storage(area).setItem(`toolsrv.${key}`, value);
  } catch {
    // The value lasts until the page is closed.
  }
}

function storage(area: "local" | "session"): Storage {
  return area === "local" ? localStorage : sessionStorage;
}

/** Puts text on the clipboard; pages without TLS have no clipboard of their own and go the old way. */
export async function copyToClipboard(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "off-screen";
    document.body.append(area);
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    return done;
  }
}

/** A live feed over the browser's WebSocket. */
export function browserFeed(options: {
  readonly address: () => { readonly url: string; readonly protocols: readonly string[] };
  readonly silenceMs: number;
  readonly onFrame: (frame: unknown) => void;
  readonly onState: (state: FeedState) => void;
}): Feed {
  return openFeed({
    connect: () => {
      const { url, protocols } = options.address();
      return quietSocket(new WebSocket(url, [...protocols]));
    },
    onFrame: options.onFrame,
    onState: options.onState,
    silenceMs: options.silenceMs,
    now,
    random: Math.random,
    after: (ms, run) => {
      const timer = setTimeout(run, ms);
      return () => clearTimeout(timer);
    },
  });
}

/** A browser complains on its console about a socket that is closed while it connects: such a one is closed once it has. */
function quietSocket(socket: WebSocket): Socket {
  const close = socket.close.bind(socket);
  socket.close = () => (socket.readyState === WebSocket.CONNECTING ? socket.addEventListener("open", () => close()) : close());
  return socket as Socket;
}

/** Hands a file to the reader. */
export function saveFile(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
