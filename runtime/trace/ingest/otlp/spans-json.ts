/** Spans of a request in JSON; what is no such request is an `OtlpError`. */
import { type Attributes, define, MAX_DEPTH, type MutableAttributes, plainInteger, type Span } from "./spans.js";

/** The JSON is no export request. */
export class OtlpError extends Error {
  override readonly name = "OtlpError";
}

type Json = { readonly [key: string]: unknown };

/** @throws OtlpError */
export function spansOfJson(value: unknown): Span[] {
  const request = objectOf(value, "the request");
  return listOf(request["resourceSpans"], "resourceSpans").flatMap((group) => {
    const resourceSpans = objectOf(group, "resourceSpans[]");
    const resource = resourceSpans["resource"] === undefined ? {} : attributesOf(objectOf(resourceSpans["resource"], "resource")["attributes"]);
    return listOf(resourceSpans["scopeSpans"], "scopeSpans").flatMap((entry) => {
      const scopeSpans = objectOf(entry, "scopeSpans[]");
      const scope = scopeSpans["scope"] === undefined ? "" : textOf(objectOf(scopeSpans["scope"], "scope")["name"]);
      return listOf(scopeSpans["spans"], "spans").map((span) => jsonSpan(objectOf(span, "spans[]"), resource, scope));
    });
  });
}

function jsonSpan(json: Json, resource: Attributes, scope: string): Span {
  const status = json["status"] === undefined || json["status"] === null ? {} : objectOf(json["status"], "status");
  return {
    traceId: textOf(json["traceId"]).toLowerCase(),
    spanId: textOf(json["spanId"]).toLowerCase(),
    parentId: textOf(json["parentSpanId"]).toLowerCase(),
    name: textOf(json["name"]),
    kind: enumOf(json["kind"], ["SPAN_KIND_UNSPECIFIED", "SPAN_KIND_INTERNAL", "SPAN_KIND_SERVER", "SPAN_KIND_CLIENT", "SPAN_KIND_PRODUCER", "SPAN_KIND_CONSUMER"]),
    startUs: nanosOf(json["startTimeUnixNano"]),
    endUs: nanosOf(json["endTimeUnixNano"]),
    attributes: attributesOf(json["attributes"]),
    events: listOf(json["events"], "events").map((entry) => {
      const event = objectOf(entry, "events[]");
      return { name: textOf(event["name"]), attributes: attributesOf(event["attributes"]) };
    }),
    statusCode: enumOf(status["code"], ["STATUS_CODE_UNSET", "STATUS_CODE_OK", "STATUS_CODE_ERROR"]),
    statusMessage: textOf(status["message"]),
    resource,
    scope,
  };
}

function objectOf(value: unknown, what: string): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new OtlpError(`${what} must be an object`);
  return value as Json;
}

function listOf(value: unknown, what: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw new OtlpError(`${what} must be a list`);
  return value;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function enumOf(value: unknown, names: readonly string[]): number {
  return typeof value === "number" ? value : Math.max(0, names.indexOf(String(value)));
}

/** 64-bit nanoseconds as decimal text or as a number, in microseconds. */
function nanosOf(value: unknown): number {
  if (typeof value === "number" && Number.isFinite(value)) return Math.floor(value / 1000);
  return typeof value === "string" && /^\d{1,20}$/.test(value) ? Number(BigInt(value) / 1000n) : 0;
}

function attributesOf(value: unknown, depth = 0): Attributes {
  const attributes: MutableAttributes = {};
  for (const entry of listOf(value, "attributes")) {
    const pair = objectOf(entry, "attributes[]");
    define(attributes, textOf(pair["key"]), anyValue(pair["value"], depth));
  }
  return attributes;
}

function anyValue(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return null;
  const json = value as Json;
  if (typeof json["stringValue"] === "string") return json["stringValue"];
  if (typeof json["boolValue"] === "boolean") return json["boolValue"];
  if (json["intValue"] !== undefined) {
    const text = String(json["intValue"]);
    return /^-?\d{1,20}$/.test(text) ? plainInteger(BigInt(text)) : null;
  }
  if (json["doubleValue"] !== undefined) return Number(json["doubleValue"]);
  if (typeof json["bytesValue"] === "string") return json["bytesValue"];
  if (depth >= MAX_DEPTH) return null;
  if (json["arrayValue"] !== undefined) return listOf(objectOf(json["arrayValue"], "arrayValue")["values"], "values").map((item) => anyValue(item, depth + 1));
  if (json["kvlistValue"] !== undefined) return attributesOf(objectOf(json["kvlistValue"], "kvlistValue")["values"], depth + 1);
  return null;
}
