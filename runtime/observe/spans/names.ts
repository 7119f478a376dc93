/**
 * Names and attributes of spans: those of the specification, and beside them those of the OpenTelemetry conventions
 * for GenAI and MCP, which are still in development; this is the one place that knows them.
 * @see https://github.com/open-telemetry/semantic-conventions-genai
 */
import type { CallOutcome, ObservedStep } from "../../abi/observer.js";

/** The conventions that the names below are from. */
export const SCHEMA_URL = "https://opentelemetry.io/schemas/gen-ai/1.42.0";

export type Attributes = { [name: string]: string | number | boolean };

/** SpanKind of the OpenTelemetry API, which is not loaded to know this. */
export const SPAN_KIND = { internal: 0, server: 1, client: 2 } as const;
export type SpanKindCode = (typeof SPAN_KIND)[keyof typeof SPAN_KIND];

/** How calls reach the server; `null` for calls within a process. */
export type SpanTransport = "tcp" | "pipe" | null;

export interface ToolIdentity {
  readonly tool: string;
  readonly connection: string | null;
  readonly collection: string | null;
  readonly planId: string;
  readonly tenantMode: string | null;
  readonly catalogHash: string;
  readonly catalogVersion: string | null;
}

/** What spans of calls of one tool share. */
export function toolAttributes({ tool, connection, collection, planId, tenantMode, catalogHash, catalogVersion }: ToolIdentity, transport: SpanTransport): Attributes {
  return {
    ...callFacts(tool, transport),
    ...(connection === null ? {} : { connection }),
    ...(collection === null ? {} : { collection }),
    "toolsrv.plan.id": planId,
    "toolsrv.catalog.hash": catalogHash,
    ...(catalogVersion === null ? {} : { "toolsrv.catalog.version": catalogVersion }),
    ...(tenantMode === null ? {} : { "toolsrv.tenant.mode": tenantMode }),
  };
}

/** What is known of a call of any name. */
export function callFacts(tool: string, transport: SpanTransport): Attributes {
  return {
    tool,
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": tool,
    ...(transport === null ? {} : { "mcp.method.name": "tools/call", "network.transport": transport }),
  };
}

/** With the conventions' names, a tool that does not exist is no part of the name: callers could make any number of them. */
export function callSpanName(tool: string | null, semconv: boolean, transport: SpanTransport): string {
  if (!semconv) return "toolsrv.tool.call";
  const operation = transport === null ? "execute_tool" : "tools/call";
  return tool === null ? operation : `${operation} ${tool}`;
}

export function callSpanKind(transport: SpanTransport): SpanKindCode {
  return transport === null ? SPAN_KIND.internal : SPAN_KIND.server;
}

/** A code says what went wrong; messages may quote arguments and are left out. */
export function addOutcome(attributes: Attributes, outcome: CallOutcome | null): void {
  if (outcome !== null && outcome.kind === "error") {
    attributes["error.type"] = "tool_error";
    attributes["toolsrv.error.code"] = outcome.code;
    return;
  }
  attributes["toolsrv.result.count"] = outcome === null ? 0 : outcome.count;
  attributes["toolsrv.result.truncated"] = outcome !== null && outcome.truncated;
}

export function stepSpanName({ kind, operation, target, attributes }: ObservedStep, semconv: boolean): string {
  switch (kind) {
    case "embed": return semconv ? `embeddings ${String(attributes["model"])}` : "toolsrv.embed";
    case "store": return semconv ? `${operation === "search" ? "retrieval" : operation} ${target}` : `toolsrv.adapter.${operation}`;
    case "pipeline": return semconv ? `toolsrv.pipeline.step ${operation}` : "toolsrv.pipeline.step";
    default: return kind satisfies never;
  }
}

export function stepSpanKind({ kind }: ObservedStep): SpanKindCode {
  return kind === "pipeline" ? SPAN_KIND.internal : SPAN_KIND.client;
}

/** The step's own attributes, under the specification's names and the conventions'. `code` is what it failed with. */
export function stepAttributes({ kind, operation, target, attributes }: ObservedStep, count: number | null, code: string | null): Attributes {
  const known: Attributes = { ...attributes, ...(code === null ? {} : { "error.type": code }) };
  if (kind === "pipeline") return { ...known, ...(count === null ? {} : { rows_out: count }) };
  if (kind === "embed") {
    return { ...known, "gen_ai.operation.name": "embeddings", ...copy("gen_ai.provider.name", attributes["provider"]), ...copy("gen_ai.request.model", attributes["model"]) };
  }
  return {
    ...known,
    ...(operation === "search" ? { "gen_ai.operation.name": "retrieval", "gen_ai.data_source.id": target, ...copy("gen_ai.request.top_k", attributes["limit"]) } : {}),
    "db.operation.name": operation,
    ...copy("db.system.name", attributes["backend"]),
    ...copy("db.collection.name", attributes["collection"]),
    ...(count === null ? {} : { "db.response.returned_rows": count }),
  };
}

function copy(name: string, value: string | number | undefined): Attributes {
  return value === undefined ? {} : { [name]: value };
}
