/** mcp-handler on a plain Node server, through the official adapter. */
import { createServer } from "node:http";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler } from "mcp-handler";
import { DESCRIPTION, listen, NAME, result, schema } from "./tool.mjs";

const handler = createMcpHandler((mcp) => {
  mcp.registerTool(NAME, { description: DESCRIPTION, inputSchema: schema }, async (args) => result(args));
});

listen(createServer(toNodeHandler({ fetch: handler })));
