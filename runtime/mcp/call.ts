/** tools/call: reads the request, resolves run_tool and runs the tool in the engine; peer-call.ts writes the answer. */
import { resolveTarget, type Target } from "../call/meta-tools.js";
import { answer, type Reply } from "./answer.js";
import { errorText, INVALID_PARAMS, INVALID_REQUEST, isObject, type Request } from "./jsonrpc.js";
import { PeerCall } from "./peer-call.js";
import type { McpServer, Peer } from "./server.js";
import { readStatedCaller } from "./stated-caller.js";
import type { ProtocolVersion } from "./versions.js";

/** Answers a call; with `null` when its peer has cancelled it. */
export function callTool(mcp: McpServer, request: Request, peer: Peer, version: ProtocolVersion, reply: Reply): void {
  const { id, params } = request;
  const name = params["name"];
  const args = params["arguments"] ?? undefined;
  if (typeof name !== "string") return reply.answer(answer(errorText(id, INVALID_PARAMS, "params.name is the name of a tool")));
  if (args !== undefined && !isObject(args)) return reply.answer(answer(errorText(id, INVALID_PARAMS, "params.arguments is an object")));
  const stated = mcp.embedded ? readStatedCaller(params) : null;
  if (typeof stated === "string") return reply.answer(answer(errorText(id, INVALID_PARAMS, stated)));
  if (!peer.begin(id)) return reply.answer(answer(errorText(null, INVALID_REQUEST, "a call with this id is still running"), 400));
  const target: Target = mcp.engine.metaTools ? resolveTarget(name, args) : { name, args, via: null };
  const call = new PeerCall(mcp, peer, request, version, target, reply, stated);
  mcp.engine.run(target.name, target.args, call, call);
}
