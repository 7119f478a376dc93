/** The program under load: tools that touch no store, so that what is measured is serving and not searching. */
import { pathToFileURL } from "node:url";
import type { CallContext, Envelope, Program, ToolHandler } from "../../runtime/abi/call.js";
import { inputSchemaOf, type ParamSpec, type Validator } from "../../runtime/abi/params.js";
import { ABI, type ToolPlan } from "../../runtime/abi/plan.js";
import { root } from "../../test/lib/repo.js";

const PARAMS: readonly ParamSpec[] = [
  { name: "text", type: "string", description: "Text to return", required: true, nonEmpty: true },
  { name: "genre", type: "string", list: true, enum: ["Action", "Comedy", "Drama"], description: "Keep these genres" },
  { name: "min_rating", type: "number", maximum: 10, description: "Lowest rating" },
  { name: "limit", type: "integer", minimum: 1, maximum: 20, default: 5 },
];

/** The row of every answer. */
export function rowFor(text: string): Envelope["rows"][number] {
  return { title: text, release_date: "1977-05-25", imdb_rating: 8.8, _id: 42 };
}

function envelopeFor(text: string, warnings: readonly string[]): Envelope {
  return {
    rows: [rowFor(text)], count: 1, truncated: false, may_be_incomplete: false, exact_search: true, search_mode: "none",
    warnings, latency_ms: 0, compiled_query: null, message: null,
  };
}

/** `tools` tools named tool_0, tool_1, …, all with the same arguments. */
export function storeFreeProgram(tools: number): Program {
  const plan: ToolPlan = { kind: "count", connection: "none", collection: "none", bind: [] };
  const names = Array.from({ length: tools }, (_, index) => `tool_${index}`);
  const handler = async (args: { readonly text: string }, call: CallContext): Promise<Envelope> => envelopeFor(args.text, call.warnings);
  return {
    abi: ABI,
    catalog: { file: "tools.yaml", hash: `sha256:${"0".repeat(64)}` },
    settings: {},
    connections: {},
    embeddings: {},
    plans: Object.fromEntries(names.map((name) => [name, plan])),
    tools: names.map((name) => ({
      name, title: name.replace("_", " "),
      description: "Find films by what they are about and who made them: title words, genre, story source, director, studio.",
      inputSchema: inputSchemaOf(PARAMS),
    })),
    async code() {
      const { validatorOf } = await import("../../runtime/abi/validators.js");
      const validator = validatorOf(PARAMS) as Validator;
      return {
        handlers: Object.fromEntries(names.map((name) => [name, handler as ToolHandler])),
        validators: Object.fromEntries(names.map((name) => [name, validator])),
      };
    },
    adapters: {},
    base: pathToFileURL(`${root}/`),
  };
}

/** The call that every server under load answers. */
export const CALL = JSON.stringify({
  jsonrpc: "2.0", id: 7, method: "tools/call",
  params: { name: "tool_0", arguments: { text: "star wars space adventure", genre: ["Action"], min_rating: 7, limit: 5 } },
});

export const LIST = JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/list", params: {} });

export const HEADERS = {
  "Content-Type": "application/json",
  Accept: "application/json, text/event-stream",
  "MCP-Protocol-Version": "2025-11-25",
} as const;

/** The same call without a handshake (2026-07-28): version and capabilities in the body, method and name in headers. */
export const ENVELOPE_CALL = JSON.stringify({
  jsonrpc: "2.0", id: 7, method: "tools/call",
  params: {
    name: "tool_0", arguments: { text: "star wars space adventure", genre: ["Action"], min_rating: 7, limit: 5 },
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "bench", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  },
});

export const ENVELOPE_HEADERS = {
  ...HEADERS,
  "MCP-Protocol-Version": "2026-07-28",
  "Mcp-Method": "tools/call",
  "Mcp-Name": "tool_0",
} as const;
