/** FastMCP (TypeScript): `node fastmcp.mjs [stateless]`, with sessions unless told otherwise; answers as JSON. */
import { FastMCP } from "fastmcp";
import { DESCRIPTION, freePort, NAME, result, schema, told } from "./tool.mjs";

const quiet = () => undefined;
const mcp = new FastMCP({ name: "fastmcp", version: "1.0.0", logger: { debug: quiet, error: quiet, info: quiet, log: quiet, warn: quiet } });
mcp.addTool({ name: NAME, description: DESCRIPTION, parameters: schema, execute: async (args) => result(args) });
const port = await freePort();
await mcp.start({ transportType: "httpStream", httpStream: { port, host: "127.0.0.1", stateless: process.argv[2] === "stateless", enableJsonResponse: true } });
told(port);
