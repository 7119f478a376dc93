/** Debian's Chromium on the built pages, with everything that a page must not do noted down. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { cp } from "node:fs/promises";
import { createServer, request as httpRequest } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import type { GivenSettings } from "../../../runtime/trace/settings.js";
import { repo } from "../../lib/repo.js";
import { suite } from "../../lib/suite.js";
import { type Json, type RunningTrace, startTrace, temporaryDirectory } from "../lib.js";

const CHROMIUM = "/usr/bin/chromium";
export const PAGES = repo("dist", "runtime", "trace-ui", "static");

/** Why the pages can't be opened here; `null` when they can. */
function noBrowser(): string | null {
  if (!existsSync(CHROMIUM)) return `there is no ${CHROMIUM}`;
  return existsSync(join(PAGES, "index.html")) ? null : "the pages are not built: make ui";
}

/** A browser on a busy machine takes its time. */
const LIMIT = { timeoutMs: 90_000 };

type OpenOptions = BrowserContextOptions & {
  /** Console lines that the test provokes. */
  readonly expected?: RegExp;
};

export interface PageSuite {
  /** Skipped, with the reason, where there is no browser. */
  readonly test: { (name: string, body: () => Promise<void>): void; run(): void };
  /** A page that keeps an account of its faults. */
  openPage(url: string, options?: OpenOptions): Promise<Watched>;
}

/** Tests that share one browser; `lacking` is a further reason to skip them. */
export function pageSuite(title: string, lacking: string | null = null): PageSuite {
  const tests = suite(title);
  const reason = noBrowser() ?? lacking;
  let browser: Browser | null = null;
  tests.before(async () => {
    if (reason === null) browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  });
  tests.after(() => browser?.close());
  const test = (name: string, body: () => Promise<void>): void => {
    if (reason === null) tests(name, body, LIMIT);
    else tests.skip(name, reason);
  };
  return { test: Object.assign(test, { run: () => tests.run() }), openPage: (url, options) => openPage(browser ?? assert.fail("no browser is open"), url, options) };
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

async function openPage(browser: Browser, url: string, options: OpenOptions = {}): Promise<Watched> {
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

const T0 = Date.parse("2026-11-20T10:00:00Z");
/** A time of `failedRun`, in milliseconds from its start. */
export const at = (ms: number): string => new Date(T0 + ms).toISOString();

/** A run with a failed call below a failed call, and payloads. */
export function failedRun(id: string): Json[] {
  return [
    { run_id: id, event_type: "run_start", timestamp: at(0), agent_name: "checkout_agent", tags: ["prod", "eu"], session_id: "chat-1" },
    { run_id: id, event_type: "chain_start", timestamp: at(0), agent_name: "checkout_agent", payload: { inputs: { question: "Where is my order?" } } },
    { run_id: `${id}-model`, parent_run_id: id, event_type: "chat_model_start", timestamp: at(100), agent_name: "ChatModel", model: "m-1", payload: { messages: [{ role: "user", content: "Where?" }] } },
    { run_id: `${id}-model`, parent_run_id: id, event_type: "llm_end", timestamp: at(900), agent_name: "ChatModel", token_input: 1200, token_output: 34, payload: { text: "call the tool" } },
    { run_id: `${id}-tool`, parent_run_id: id, event_type: "tool_start", timestamp: at(1000), tool_name: "carrier_status", mcp_server: "logistics", payload: { input: { order: 4711 } } },
    { run_id: `${id}-http`, parent_run_id: `${id}-tool`, event_type: "chain_start", timestamp: at(1100), agent_name: "http_request" },
    { run_id: `${id}-http`, parent_run_id: `${id}-tool`, event_type: "chain_error", timestamp: at(1900), agent_name: "http_request", error_message: "ConnectTimeout after 800 ms" },
    { run_id: `${id}-tool`, parent_run_id: id, event_type: "tool_error", timestamp: at(2000), tool_name: "carrier_status", mcp_server: "logistics", error_message: "tool failed" },
    { run_id: id, event_type: "chain_error", timestamp: at(2100), agent_name: "checkout_agent", error_message: "step 2 failed" },
  ];
}

export async function withPages(given: Parameters<typeof startPages>[0], body: (trace: RunningTrace) => Promise<void>): Promise<void> {
  const trace = await startPages(given);
  try {
    await body(trace);
  } finally {
    await trace.dispose();
  }
}

/** The page is closed and did nothing that it must not do. */
export async function finish(watched: Watched): Promise<void> {
  await watched.close();
  assert.deepEqual(watched.faults, []);
}
