/** Debian's Chromium on the built pages, with everything that a page must not do noted down. */
import { existsSync } from "node:fs";
import { cp } from "node:fs/promises";
import { createServer, request as httpRequest } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import type { GivenSettings } from "../../../runtime/trace/settings.js";
import { repo } from "../../lib/repo.js";
import { type RunningTrace, startTrace, temporaryDirectory } from "../lib.js";

const CHROMIUM = "/usr/bin/chromium";
export const PAGES = repo("dist", "runtime", "trace", "ui", "static");

/** Why the pages can't be opened here; `null` when they can. */
export function noBrowser(): string | null {
  if (!existsSync(CHROMIUM)) return `there is no ${CHROMIUM}`;
  return existsSync(join(PAGES, "index.html")) ? null : "the pages are not built: make ui";
}

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
}

/** A trace service that serves the built pages. */
export async function startPages(given: GivenSettings = {}): Promise<RunningTrace> {
  const directory = await temporaryDirectory();
  await cp(PAGES, join(directory, "ui"), { recursive: true });
  return startTrace(given, directory);
}

export interface Watched {
  readonly page: Page;
  /** Console messages, uncaught errors, refused and outside requests. */
  readonly faults: string[];
  close(): Promise<void>;
}

/** A page that keeps an account of its faults. `expected` leaves out console lines that a test provokes. */
export async function openPage(browser: Browser, url: string, options: BrowserContextOptions & { readonly expected?: RegExp } = {}): Promise<Watched> {
  const { expected, ...context } = options;
  const opened = await browser.newContext({ viewport: { width: 1440, height: 860 }, ...context });
  const page = await opened.newPage();
  page.setDefaultTimeout(20_000);
  const faults: string[] = [];
  const { origin } = new URL(url);
  page.on("console", (message) => {
    if (expected?.test(message.text()) !== true) faults.push(`console ${message.type()}: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`error: ${error.message}`));
  page.on("request", (request) => {
    if (!/^(data|blob):/.test(request.url()) && new URL(request.url()).origin !== origin) faults.push(`outside request: ${request.url()}`);
  });
  page.on("websocket", (socket) => {
    if (new URL(socket.url()).host !== new URL(url).host) faults.push(`outside socket: ${socket.url()}`);
  });
  await page.addInitScript({ content: `document.addEventListener("securitypolicyviolation", (event) => console.error("policy: " + event.violatedDirective + " " + event.blockedURI));` });
  await page.goto(url);
  return { page, faults, close: () => opened.close() };
}

/** A proxy that shows the service under a prefix, sockets included. */
export async function startPrefixProxy(target: RunningTrace, prefix: string): Promise<{ readonly url: string; /** Ends every socket. */ cut(): void; close(): void }> {
  const server = createServer((incoming, outgoing) => {
    if (incoming.url?.startsWith(prefix) !== true) {
      outgoing.writeHead(404).end();
      return;
    }
    const onward = httpRequest({ host: "127.0.0.1", port: target.port, method: incoming.method, path: incoming.url.slice(prefix.length) || "/", headers: incoming.headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on("error", () => outgoing.destroy());
    incoming.pipe(onward);
  });
  const sockets = new Set<Duplex>();
  server.on("upgrade", (incoming, socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    const onward = connect(target.port, "127.0.0.1", () => {
      const headers = Object.entries(incoming.headers).map(([name, value]) => `${name}: ${String(value)}\r\n`);
      onward.write(`GET ${(incoming.url ?? "").slice(prefix.length)} HTTP/1.1\r\n${headers.join("")}\r\n`);
      socket.pipe(onward);
      onward.pipe(socket);
    });
    for (const end of [onward, socket]) end.on("error", () => { onward.destroy(); socket.destroy(); });
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}${prefix}`,
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      server.close();
    },
  };
}
