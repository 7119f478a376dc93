/** The official SDK, version 2, with sessions: one server and one transport per session, answers as JSON. */
import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { NodeStreamableHTTPServerTransport } from "@modelcontextprotocol/node";
import { McpServer } from "@modelcontextprotocol/server";
import { DESCRIPTION, listen, NAME, result, schema } from "./tool.mjs";

const sessions = new Map();

async function open() {
  const mcp = new McpServer({ name: "sdk-v2", version: "1.0.0" });
  mcp.registerTool(NAME, { description: DESCRIPTION, inputSchema: schema }, async (args) => result(args));
  const transport = new NodeStreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    enableJsonResponse: true,
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  await mcp.connect(transport);
  return transport;
}

listen(createServer((request, response) => {
  const known = sessions.get(request.headers["mcp-session-id"]);
  void (known === undefined ? open().then((transport) => transport.handleRequest(request, response)) : known.handleRequest(request, response));
}));
