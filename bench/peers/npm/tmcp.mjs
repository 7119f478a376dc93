/** tmcp on a plain Node server, with the adapter that its guide names. */
import { createServer } from "node:http";
import { createRequestListener } from "@remix-run/node-fetch-server";
import { ZodJsonSchemaAdapter } from "@tmcp/adapter-zod";
import { HttpTransport } from "@tmcp/transport-http";
import { McpServer } from "tmcp";
import { DESCRIPTION, listen, NAME, result, schema } from "./tool.mjs";

const mcp = new McpServer({ name: "tmcp", version: "1.0.0", description: "" }, { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: { listChanged: true } } });
mcp.tool({ name: NAME, description: DESCRIPTION, schema }, async (args) => result(args));
const transport = new HttpTransport(mcp, { path: "/mcp" });

listen(createServer(createRequestListener(async (request) => (await transport.respond(request)) ?? new Response(null, { status: 404 }))));
