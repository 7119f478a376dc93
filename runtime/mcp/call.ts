/** tools/call: sees through run_tool, and runs the tool in the engine; peer-call.ts words how that ended. */
import { ToolError } from "../abi/errors.js";
import type { ExtraResult, ExtraTool } from "../abi/extra-tools.js";
import { answer, type Answer, type Reply } from "./answer.js";
import { CAPABILITIES_KEY, errorText, INVALID_PARAMS, INVALID_REQUEST, isObject, metaOf, resultText, type Request } from "./jsonrpc.js";
import { isMetaTool, resolveTarget, type Target } from "./meta-tools.js";
import { Progress, progressTokenOf } from "./notify.js";
import { PeerCall } from "./peer-call.js";
import { finishResult, payloadResult } from "./result.js";
import type { McpServer, Peer } from "./server.js";
import type { ProtocolVersion } from "./versions.js";

/** The request needs something of the client that it did not declare. */
const MISSING_CAPABILITY = -32021;

/** Answers a call; with `null` when its peer has cancelled it. */
export function callTool(mcp: McpServer, request: Request, peer: Peer, version: ProtocolVersion, reply: Reply): void {
  const { id, params } = request;
  const name = params["name"];
  const args = params["arguments"] ?? undefined;
  if (typeof name !== "string") return reply.answer(answer(errorText(id, INVALID_PARAMS, "params.name is the name of a tool")));
  if (args !== undefined && !isObject(args)) return reply.answer(answer(errorText(id, INVALID_PARAMS, "params.arguments is an object")));
  // In the handshake era, as with what run_tool names, an unknown tool is a result that the model can act on.
  if (version.era === "stateless" && !isKnown(mcp, name)) {
    return reply.answer(answer(errorText(id, INVALID_PARAMS, `unknown tool: ${name.slice(0, 128)}`)));
  }
  if (mcp.metaTools && isMetaTool(name)) callMetaTool(mcp, request, peer, version, reply, resolveTarget(name, args));
  else runTool(mcp, request, peer, version, name, args, reply);
}

function callMetaTool(mcp: McpServer, request: Request, peer: Peer, version: ProtocolVersion, reply: Reply, target: Target): void {
  const denied = target.via.find((meta) => mcp.engine.access.isDenied(meta));
  if (denied !== undefined) {
    const call = new PeerCall(mcp, peer, request.id, version, denied, null, reply);
    return reply.answer(call.wordFailure(new ToolError("auth_error", `tool '${denied}' is denied`)));
  }
  switch (target.kind) {
    case "list":
      return reply.answer(mcp.lists.available(version, peer.principal).answer(request.id));
    case "unusable":
      return reply.answer(answer(resultText(request.id, finishResult(payloadResult({ rows: [], count: 0, message: target.message }, version), version, mcp.infoText))));
    case "tool":
      return runTool(mcp, request, peer, version, target.name, target.args, reply);
    default:
      return target satisfies never;
  }
}

function isKnown(mcp: McpServer, tool: string): boolean {
  return (mcp.metaTools && isMetaTool(tool)) || Object.hasOwn(mcp.engine.program.plans, tool) || extraTool(mcp, tool) !== null;
}

function extraTool({ engine }: McpServer, name: string): ExtraTool | null {
  const { extra } = engine.program;
  return extra === undefined ? null : (extra.definitions.find((definition) => definition.name === name) ?? null);
}

function runTool(mcp: McpServer, request: Request, peer: Peer, version: ProtocolVersion, tool: string, args: unknown, reply: Reply): void {
  const { id, params } = request;
  const token = progressTokenOf(params);
  const call = new PeerCall(mcp, peer, id, version, tool, token === null ? null : new Progress(peer, version, token), reply);
  const extra = extraTool(mcp, tool);
  const refusal = extra === null ? null : refuseExtra(mcp, extra, request, peer, version);
  if (refusal !== null) reply.answer(refusal instanceof ToolError ? call.wordFailure(refusal) : refusal);
  else if (!peer.begin(id)) reply.answer(answer(errorText(null, INVALID_REQUEST, "a call with this id is still running"), 400));
  else if (extra === null) mcp.engine.run(tool, args, call, call);
  else callExtra(mcp, extra, args, call).then((result) => call.doneExtra(result), (error: unknown) => call.failed(error));
}

/** What keeps an extra tool from being called at all, which for the others the engine decides. */
function refuseExtra(mcp: McpServer, { name, needs = [] }: ExtraTool, request: Request, peer: Peer, version: ProtocolVersion): Answer | ToolError | null {
  const refusal = mcp.engine.access.refusal(name, peer.principal);
  if (refusal !== null) return refusal;
  if (version.era === "handshake") return null;
  const declared = metaOf(request.params)[CAPABILITIES_KEY];
  const missing = needs.filter((capability) => !isObject(declared) || !isObject(declared[capability]));
  if (missing.length === 0) return null;
  const requiredCapabilities = Object.fromEntries(missing.map((capability) => [capability, {}]));
  return answer(errorText(request.id, MISSING_CAPABILITY, `tool '${name}' needs a client that declares ${missing.join(", ")}`, { requiredCapabilities }), 400);
}

/** An extra tool that did not notice that it was cancelled has been cancelled all the same. */
async function callExtra({ engine }: McpServer, { name }: ExtraTool, args: unknown, call: PeerCall): Promise<ExtraResult> {
  const { extra } = engine.program;
  if (extra === undefined) throw new Error("there are no extra tools");
  const result = await extra.call(name, isObject(args) ? args : {}, call);
  if (call.signal.aborted) throw new ToolError("cancelled", "the call was cancelled");
  return result;
}
