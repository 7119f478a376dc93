/** The official SDK, version 1, in its documented stateless mode: one server and one transport per request. */
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import * as z from "zod";
import { rowFor } from "../lib/program.js";

const inputSchema = {
  text: z.string().min(1).describe("Text to return"),
  genre: z.array(z.enum(["Action", "Comedy", "Drama"])).optional().describe("Keep these genres"),
  min_rating: z.number().max(10).optional().describe("Lowest rating"),
  limit: z.int().min(1).max(20).default(5),
};

function createMcp(): McpServer {
  const mcp = new McpServer({ name: "sdk-v1", version: "1.0.0" });
  mcp.registerTool("tool_0", { description: "Find films by what they are about and who made them.", inputSchema }, async ({ text }) => {
    const envelope = {
      rows: [rowFor(text)], count: 1, truncated: false, may_be_incomplete: false, exact_search: true, search_mode: "none",
      warnings: [], latency_ms: 0, compiled_query: null, message: null,
    };
    return { content: [{ type: "text", text: JSON.stringify(envelope) }], structuredContent: envelope };
  });
  return mcp;
}

const server = createServer((request, response) => {
  void (async () => {
    const mcp = createMcp();
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    response.on("close", () => {
      void transport.close();
      void mcp.close();
    });
    await mcp.connect(transport as Parameters<McpServer["connect"]>[0]);
    await transport.handleRequest(request, response);
  })();
});
server.listen(0, "127.0.0.1", () => {
  const address = server.address();
  if (address !== null && typeof address === "object") process.stderr.write(`port ${address.port}\n`);
});
