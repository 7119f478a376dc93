/**
 * A stand-in for an index of Pinecone: not its engine, of which none can be had. Each request is read and written again
 * by the models that the official client is generated from, and must come out the same, so a field that the service
 * does not know is refused. Filters follow the service's documentation: a list passes where one of its texts does.
 */
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { isDeepStrictEqual } from "node:util";

type Model = (value: unknown) => unknown;
const models = createRequire(import.meta.url)("@pinecone-database/pinecone/dist/pinecone-generated-ts-fetch/db_data/models") as { readonly [name: string]: Model };

export interface StoredVector {
  readonly id: string;
  readonly values: readonly number[];
  readonly metadata: { readonly [key: string]: unknown };
}

export interface Standin {
  readonly host: string;
  readonly port: number;
  /** Vectors by namespace. */
  readonly namespaces: Map<string, readonly StoredVector[]>;
  /** Bodies of the queries so far. */
  readonly queries: { readonly [key: string]: unknown }[];
  close(): Promise<void>;
}

export const KEY = "standin-secret";

class Refusal extends Error {
  constructor(readonly status: number, message: string) {
    super(message);
  }
}

function check(model: string, body: unknown): void {
  const read = models[`${model}FromJSON`]?.(body);
  const written: unknown = JSON.parse(JSON.stringify(models[`${model}ToJSON`]?.(read) ?? null));
  if (!isDeepStrictEqual(written, body)) throw new Refusal(400, `${model}: a field that is not known`);
}

/** Whether metadata passes a filter. */
export function passes(metadata: StoredVector["metadata"], filter: unknown): boolean {
  if (typeof filter !== "object" || filter === null || Array.isArray(filter) || Object.keys(filter).length !== 1) throw new Refusal(400, "a filter has one key");
  const [[key, condition] = ["", null]] = Object.entries(filter) as [string, unknown][];
  if (key === "$and") return list(condition).every((part) => passes(metadata, part));
  if (key === "$or") return list(condition).some((part) => passes(metadata, part));
  if (key.startsWith("$") || typeof condition !== "object" || condition === null) throw new Refusal(400, `${key} is no field`);
  return Object.entries(condition).every(([op, operand]) => compare(metadata[key], op, operand));
}

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > 10_000) throw new Refusal(400, "a list has 1 to 10,000 elements");
  return value;
}

function compare(value: unknown, op: string, operand: unknown): boolean {
  const has = (one: unknown): boolean => {
    if (!["string", "number", "boolean"].includes(typeof one)) throw new Refusal(400, "operands are texts, numbers or booleans");
    return Array.isArray(value) ? value.includes(one) : value === one;
  };
  const order = (test: (a: number, b: number) => boolean): boolean => {
    if (typeof operand !== "number") throw new Refusal(400, `${op} compares numbers`);
    return typeof value === "number" && test(value, operand);
  };
  switch (op) {
    case "$eq":
      return has(operand);
    case "$ne":
      return !has(operand);
    case "$in":
      return list(operand).map(has).includes(true);
    case "$nin":
      return !list(operand).map(has).includes(true);
    case "$gt":
      return order((a, b) => a > b);
    case "$gte":
      return order((a, b) => a >= b);
    case "$lt":
      return order((a, b) => a < b);
    case "$lte":
      return order((a, b) => a <= b);
    default:
      throw new Refusal(400, `${op} is no operator`);
  }
}

function cosine(a: readonly number[], b: readonly number[]): number {
  const dot = a.reduce((sum, value, index) => sum + value * (b[index] ?? 0), 0);
  return dot / (Math.hypot(...a) * Math.hypot(...b));
}

/** Answers on a free port of the loopback. */
export async function startStandin(dims: number): Promise<Standin> {
  const namespaces = new Map<string, readonly StoredVector[]>();
  const queries: { readonly [key: string]: unknown }[] = [];
  const answer = (request: IncomingMessage, body: { readonly [key: string]: unknown }): object => {
    if (request.headers["api-key"] !== KEY) throw new Refusal(401, "Invalid API Key");
    if (typeof request.headers["x-pinecone-api-version"] !== "string") throw new Refusal(400, "no API version");
    switch (`${request.method ?? ""} ${request.url ?? ""}`) {
      case "POST /describe_index_stats": {
        check("DescribeIndexStatsRequest", body);
        const sizes = [...namespaces].map(([name, vectors]) => [name, { vectorCount: vectors.length }] as const);
        return { namespaces: Object.fromEntries(sizes), dimension: dims, indexFullness: 0, totalVectorCount: sizes.reduce((sum, [, { vectorCount }]) => sum + vectorCount, 0), metric: "cosine", vectorType: "dense" };
      }
      case "POST /query": {
        check("QueryRequest", body);
        queries.push(body);
        const { vector, topK, filter, namespace = "", includeMetadata } = body as { readonly vector?: number[]; readonly topK: number; readonly filter?: unknown; readonly namespace?: string; readonly includeMetadata?: boolean };
        if (vector?.length !== dims) throw new Refusal(400, `Vector dimension ${String(vector?.length)} does not match the dimension of the index ${dims}`);
        if (!Number.isInteger(topK) || topK < 1 || topK > 10_000) throw new Refusal(400, "topK is a number from 1 to 10000");
        if (!vector.every(Number.isFinite)) throw new Refusal(400, "values are numbers");
        const found = (namespaces.get(namespace) ?? []).filter(({ metadata }) => filter === undefined || passes(metadata, filter));
        const matches = found.map(({ id, values, metadata }) => ({ id, score: cosine(vector, values), values: [], ...(includeMetadata === true ? { metadata } : {}) }));
        return { results: [], matches: matches.sort((a, b) => b.score - a.score).slice(0, topK), namespace, usage: { readUnits: 1 } };
      }
      default:
        throw new Refusal(404, "no such path");
    }
  };
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part)).on("end", () => {
      const send = (status: number, body: object): void => void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
      try {
        send(200, answer(request, JSON.parse(Buffer.concat(parts).toString() || "{}") as { readonly [key: string]: unknown }));
      } catch (error) {
        send(error instanceof Refusal ? error.status : 500, { code: 3, message: String(error), details: [] });
      }
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    host: "127.0.0.1", port: (server.address() as AddressInfo).port, namespaces, queries,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
