/** The official SDK, version 2, as its guide shows it: a handler that makes a server per request, answers as JSON. */
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { DESCRIPTION, listen, NAME, result, schema } from "./tool.mjs";

const handler = createMcpHandler(() => {
  const mcp = new McpServer({ name: "sdk-v2", version: "1.0.0" });
  mcp.registerTool(NAME, { description: DESCRIPTION, inputSchema: schema }, async (args) => result(args));
  return mcp;
}, { responseMode: "json" });

listen(createServer(toNodeHandler(handler)));
