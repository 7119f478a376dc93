/** mcp-use with its own listener. */
import { MCPServer } from "mcp-use";
import { DESCRIPTION, freePort, NAME, result, schema, told } from "./tool.mjs";

const mcp = new MCPServer({ name: "mcp-use", version: "1.0.0" });
mcp.tool({ name: NAME, description: DESCRIPTION, inputSchema: schema }, async (args) => result(args));
const port = await freePort();
await mcp.listen(port, { host: "127.0.0.1" });
told(port);
