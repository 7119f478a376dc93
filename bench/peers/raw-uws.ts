/**
 * The reference: a uWebSockets.js handler that one could write by hand for one tool. It parses the request and answers
 * the same bytes as we do, and does nothing else: no validation, no checks, no limits, no versions.
 */
import { createEngine } from "../../runtime/call/engine.js";
import { createMcpServer } from "../../runtime/mcp/server.js";
import { versionNamed } from "../../runtime/mcp/versions.js";
import { createLog } from "../../runtime/observe/log.js";
import { loadUws } from "../../runtime/transport/uws-load.js";
import { rowFor, storeFreeProgram } from "../lib/program.js";

const [tools = "6"] = process.argv.slice(2);

/** Result of tools/list as JSON text: made once, the same that we send. */
function listResult(): string {
  const engine = createEngine(storeFreeProgram(Number(tools)), { env: new Map(), metaTools: true });
  const log = createLog({ format: "text", level: "silent", write: () => undefined });
  const mcp = createMcpServer({ engine, info: { name: "raw", title: "raw", version: "0" }, log });
  const version = versionNamed("2025-11-25", "handshake");
  if (version === null) throw new Error("no such version");
  return mcp.lists.tools(version, { id: null, claims: {}, headers: {} })?.text ?? "{}";
}

interface Request {
  readonly id: number;
  readonly method: string;
  readonly params: { readonly arguments: { readonly text: string } };
}

const list = listResult();

function answer({ id, method, params }: Request): string {
  if (method === "tools/list") return `{"jsonrpc":"2.0","id":${id},"result":${list}}`;
  const text = JSON.stringify({
    rows: [rowFor(params.arguments.text)], count: 1, truncated: false, may_be_incomplete: false, exact_search: true, search_mode: "none",
    warnings: [], latency_ms: 0, compiled_query: null, message: null,
  });
  return `{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"text","text":${JSON.stringify(text)}}],"structuredContent":${text},"isError":false}}`;
}

const uws = loadUws();
uws.App()
  .post("/mcp", (res) => {
    let body = "";
    res.onAborted(() => undefined);
    res.onData((chunk, isLast) => {
      body += Buffer.from(chunk).toString();
      if (!isLast) return;
      const text = answer(JSON.parse(body) as Request);
      res.cork(() => res.writeHeader("content-type", "application/json").end(text));
    });
  })
  .listen("127.0.0.1", 0, uws.LIBUS_LISTEN_EXCLUSIVE_PORT, (token) => {
    if (token !== false) process.stderr.write(`port ${uws.us_socket_local_port(token)}\n`);
  });
