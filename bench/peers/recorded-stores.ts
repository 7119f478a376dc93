/**
 * Servers of stores that answer every search with the same bytes, at once: what is measured beside them is the client and
 * our code around it. For a benchmark they run in a thread of their own. Answers of gRPC are written with the clients' own messages.
 */
import { createServer } from "node:http";
import { createServer as createHttp2Server } from "node:http2";
import { createRequire } from "node:module";
import { createServer as createTcpServer, type AddressInfo, type Server, type Socket } from "node:net";
import { parentPort } from "node:worker_threads";

const require = createRequire(import.meta.url);

/** Length of the vectors. */
export const DIMS = 512;
export const COLLECTION = "Things";
const ROWS = Array.from({ length: 10 }, (_, n) => ({ id: n + 1, uuid: `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`, score: 0.9 - n / 100, tenant_id: "acme", title: `A thing with number ${n}`, size: 10 + n, group: "red" }));
const payloadOf = ({ tenant_id, title, size, group }: (typeof ROWS)[number]): object => ({ tenant_id, title, size, group });

/** Ports of the loopback. */
export interface RecordedStores {
  readonly http: number;
  readonly grpc: number;
  readonly postgres: number;
}

/** Called for each search: what its answer waits for. */
export type Gate = () => Promise<void> | null;

interface Listening {
  readonly port: number;
  close(): void;
}

/** On a free port. */
function listening(server: Server): Promise<Listening> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket.once("close", () => sockets.delete(socket))));
  const close = (): void => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve({ port: (server.address() as AddressInfo).port, close })));
}

const CHROMA_COLLECTION = { id: "0c6a0b0e-3a5c-4f0a-9a39-3d7d1b1d1a00", name: COLLECTION, tenant: "default_tenant", database: "default_database", metadata: null, dimension: DIMS, configuration_json: {}, schema: null, log_position: 0, version: 0 };

/** By the end of a path. */
const JSON_ANSWERS: readonly (readonly [path: RegExp, answer: object])[] = [
  [/^\/collections\/[^/]+\/points\/query$/, { result: { points: ROWS.map((row) => ({ id: row.id, version: 1, score: row.score, payload: payloadOf(row) })) }, status: "ok", time: 0.0001 }],
  [/^\/collections\/[^/]+$/, { result: { status: "green", optimizer_status: "ok", segments_count: 1, config: { params: { vectors: { size: DIMS, distance: "Cosine" } } }, payload_schema: {} }, status: "ok", time: 0.0001 }],
  [/^\/query$/, { results: [], matches: ROWS.map((row) => ({ id: String(row.id), score: row.score, values: [], metadata: payloadOf(row) })), namespace: COLLECTION, usage: { readUnits: 1 } }],
  [/^\/api\/v2\/auth\/identity$/, { user_id: "", tenant: "default_tenant", databases: ["default_database"] }],
  [/^\/api\/v2\/.*\/query$/, { ids: [ROWS.map(({ id }) => String(id))], distances: [ROWS.map(({ score }) => 1 - score)], metadatas: [ROWS.map(payloadOf)], documents: [ROWS.map(() => null)], embeddings: null, uris: null, include: ["metadatas", "distances", "documents"] }],
  [/^\/api\/v2\/.*\/collections\/[^/]+$/, CHROMA_COLLECTION],
  [/^\/v1\/meta$/, { hostname: "http://[::]:8080", modules: {}, version: "1.35.2", grpcMaxMessageSize: 104_858_000 }],
  [/^\/v1\/schema\/[^/]+$/, {
    class: COLLECTION, vectorizer: "none", vectorIndexType: "hnsw", moduleConfig: {}, multiTenancyConfig: { enabled: false }, replicationConfig: { factor: 1, asyncEnabled: false, deletionStrategy: "NoAutomatedResolution" },
    vectorIndexConfig: { distance: "cosine", skip: false, cleanupIntervalSeconds: 300, maxConnections: 32, efConstruction: 128, ef: -1, dynamicEfMin: 100, dynamicEfMax: 500, dynamicEfFactor: 8, vectorCacheMaxObjects: 1e12, flatSearchCutoff: 40_000, filterStrategy: "sweeping", pq: { enabled: false }, bq: { enabled: false }, sq: { enabled: false } },
    invertedIndexConfig: { bm25: { b: 0.75, k1: 1.2 }, cleanupIntervalSeconds: 60, stopwords: { preset: "en", additions: null, removals: null } },
    shardingConfig: { actualCount: 1, actualVirtualCount: 128, desiredCount: 1, desiredVirtualCount: 128, function: "murmur3", key: "_id", strategy: "hash", virtualPerPhysical: 128 },
    properties: ["tenant_id", "title", "group"].map((name) => ({ name, dataType: ["text"], tokenization: "field", indexFilterable: true, indexSearchable: false })).concat([{ name: "size", dataType: ["int"], tokenization: "", indexFilterable: true, indexSearchable: false }]),
  }],
];

/** Calls `answer` at once, or when the gate opens. */
function through(gate: Gate, isSearch: boolean, answer: () => void): void {
  const held = isSearch ? gate() : null;
  if (held === null) answer();
  else void held.then(answer);
}

function startHttp(gate: Gate): Promise<Listening> {
  const answers = JSON_ANSWERS.map(([path, answer]) => [path, Buffer.from(JSON.stringify(answer))] as const);
  return listening(createServer((request, response) => {
    const [, body] = answers.find(([path]) => path.test((request.url ?? "").split("?", 1)[0] ?? "")) ?? [];
    const answer = (): void => void response.writeHead(body === undefined ? 404 : 200, { "content-type": "application/json" }).end(body ?? `{"error":"nothing is recorded for ${request.url}"}`);
    request.resume().on("end", () => through(gate, /\/query(\?|$)/.test(request.url ?? ""), answer));
  }));
}

interface MessageType {
  encode(message: object): { finish(): Uint8Array };
  fromObject?(message: object): object;
}

async function grpcAnswers(): Promise<ReadonlyMap<string, Uint8Array>> {
  const { Root } = require("protobufjs") as { Root: { fromJSON(json: object): { lookupType(name: string): MessageType } } };
  const { default: json } = require("@zilliz/milvus2-sdk-node/dist/milvus/proto-json/milvus.js") as { default: object };
  const root = Root.fromJSON(json);
  const milvus = (name: string, message: object): Uint8Array => {
    const type = root.lookupType(`milvus.proto.milvus.${name}`);
    return type.encode(type.fromObject?.(message) ?? message).finish();
  };
  const text = (name: string, data: readonly string[]): object => ({ type: "VarChar", field_name: name, scalars: { string_data: { data } } });
  const { SearchReply } = (await import(new URL("./proto/v1/search_get.js", import.meta.resolve("weaviate-client")).href)) as { SearchReply: MessageType & { fromPartial(message: object): object } };
  const status = { error_code: "Success", code: 0 };
  return new Map([
    ["/milvus.proto.milvus.MilvusService/DescribeCollection", milvus("DescribeCollectionResponse", { status, collection_name: COLLECTION, schema: { name: COLLECTION, enable_dynamic_field: false, fields: [
      { fieldID: 100, name: "id", is_primary_key: true, data_type: "Int64" }, { fieldID: 101, name: "vector", data_type: "FloatVector", type_params: [{ key: "dim", value: String(DIMS) }] },
      { fieldID: 102, name: "tenant_id", data_type: "VarChar" }, { fieldID: 103, name: "title", data_type: "VarChar" }, { fieldID: 104, name: "size", data_type: "Int64" }, { fieldID: 105, name: "group", data_type: "VarChar" },
    ] } })],
    ["/milvus.proto.milvus.MilvusService/DescribeIndex", milvus("DescribeIndexResponse", { status, index_descriptions: [{ index_name: "vector", field_name: "vector", params: [{ key: "metric_type", value: "COSINE" }, { key: "index_type", value: "HNSW" }] }] })],
    ["/milvus.proto.milvus.MilvusService/Search", milvus("SearchResults", { status, collection_name: COLLECTION, results: {
      num_queries: 1, top_k: ROWS.length, scores: ROWS.map(({ score }) => score), topks: [ROWS.length], ids: { int_id: { data: ROWS.map(({ id }) => id) } }, primary_field_name: "id", output_fields: ["tenant_id", "title", "size", "group"],
      fields_data: [text("tenant_id", ROWS.map((row) => row.tenant_id)), text("title", ROWS.map(({ title }) => title)), { type: "Int64", field_name: "size", scalars: { long_data: { data: ROWS.map(({ size }) => size) } } }, text("group", ROWS.map(({ group }) => group))],
    } })],
    ["/weaviate.v1.Weaviate/Search", SearchReply.encode(SearchReply.fromPartial({ took: 0.0001, results: ROWS.map((row) => ({
      metadata: { id: row.uuid, distance: 1 - row.score, distancePresent: true, certainty: (1 + row.score) / 2, certaintyPresent: true },
      properties: { targetCollection: COLLECTION, nonRefProps: { fields: { tenant_id: { textValue: row.tenant_id }, title: { textValue: row.title }, group: { textValue: row.group }, size: { intValue: row.size } } } },
    })) })).finish()],
    // SERVING
    ["/grpc.health.v1.Health/Check", Uint8Array.of(0x08, 0x01)],
  ]);
}

async function startGrpc(gate: Gate): Promise<Listening> {
  const answers = await grpcAnswers();
  const server = createHttp2Server();
  server.on("stream", (stream, headers) => {
    const path = String(headers[":path"]);
    const message = answers.get(path);
    const answer = (): void => {
      stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
      stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": message === undefined ? "12" : "0" }));
      const frame = Buffer.alloc(message === undefined ? 0 : 5 + message.length);
      if (message !== undefined) {
        frame.writeUInt32BE(message.length, 1);
        frame.set(message, 5);
      }
      stream.end(frame);
    };
    stream.on("error", () => undefined).resume().on("end", () => through(gate, path.endsWith("/Search"), answer));
  });
  return listening(server);
}

// ---- PostgreSQL's protocol: https://www.postgresql.org/docs/18/protocol-message-formats.html ------------------------------

function pgMessage(type: string, ...parts: readonly (Buffer | string)[]): Buffer {
  const body = Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(`${part}\0`) : part)));
  const head = Buffer.alloc(5, type);
  head.writeInt32BE(4 + body.length, 1);
  return Buffer.concat([head, body]);
}

function int16(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(2 * values.length);
  values.forEach((value, index) => bytes.writeInt16BE(value, 2 * index));
  return bytes;
}

function int32(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, index) => bytes.writeInt32BE(value, 4 * index));
  return bytes;
}

/** Types of the columns, by their object ids. */
const TEXT = 25;
const JSONB = 3802;
const FLOAT8 = 701;
const INT4 = 23;
const JSON_TYPE = 114;

function pgRows(columns: readonly (readonly [name: string, type: number])[], rows: readonly (readonly string[])[]): Buffer {
  const described = columns.map(([name, type]) => Buffer.concat([Buffer.from(`${name}\0`), int32(0), int16(0), int32(type), int16(-1), int32(-1), int16(0)]));
  const data = rows.map((row) => pgMessage("D", int16(row.length), ...row.map((value) => Buffer.concat([int32(Buffer.byteLength(value)), Buffer.from(value)]))));
  return Buffer.concat([pgMessage("T", int16(columns.length), ...described), ...data, pgMessage("C", `SELECT ${rows.length}`)]);
}

const PG_COLUMNS = [["id", "int8"], ["embedding", "vector"], ["payload", "jsonb"]].map(([name, type], index) => ({ name, type, schema: index === 1 ? "public" : "pg_catalog", visible: true, typmod: index === 1 ? DIMS : -1, exactText: true }));
const PG_FOUND = pgRows([["_id", TEXT], ["payload", JSONB], ["distance", FLOAT8]], ROWS.map((row) => [String(row.id), JSON.stringify(payloadOf(row)), String(1 - row.score)]));
const PG_TABLE = pgRows([["columns", JSON_TYPE], ["indexes", JSON_TYPE]], [[JSON.stringify(PG_COLUMNS), "[]"]]);
const READY = pgMessage("Z", Buffer.from("I"));

function answerPostgres(socket: Socket, gate: Gate): void {
  let waiting = Buffer.alloc(0);
  let isStarted = false;
  /** Texts by the names under which they are prepared. */
  const texts = new Map<string, string>();
  let bound = "";
  const answer = (type: string, body: Buffer): Buffer => {
    const [first = "", second = ""] = body.toString("latin1").split("\0", 2);
    switch (type) {
      case "Q":
        return Buffer.concat([first.includes("pg_backend_pid") ? pgRows([["pid", INT4]], [["1"]]) : pgMessage("C", "SET"), READY]);
      case "P":
        texts.set(first, second);
        return pgMessage("1");
      case "B":
        bound = texts.get(second) ?? "";
        return pgMessage("2");
      case "D":
        // Sent with the rows, which begin with their description.
        return Buffer.alloc(0);
      case "E":
        return bound.includes("pg_attribute") ? PG_TABLE : PG_FOUND;
      case "S":
        return READY;
      default:
        return Buffer.alloc(0);
    }
  };
  socket.on("error", () => undefined).on("data", (chunk) => {
    waiting = Buffer.concat([waiting, chunk]);
    const answers: Buffer[] = [];
    let isSearch = false;
    for (;;) {
      const at = isStarted ? 1 : 0;
      if (waiting.length < at + 4) break;
      const length = at + waiting.readInt32BE(at);
      if (waiting.length < length) break;
      const [head, body] = [waiting.subarray(0, at).toString("latin1"), waiting.subarray(at + 4, length)];
      waiting = waiting.subarray(length);
      if (head === "X") return socket.end();
      if (head === "E" && bound.includes("distance")) isSearch = true;
      answers.push(isStarted ? answer(head, body) : Buffer.concat([pgMessage("R", int32(0)), READY]));
      isStarted = true;
    }
    if (answers.length > 0) through(gate, isSearch, () => void socket.write(Buffer.concat(answers)));
    return undefined;
  });
}

/** All of them, on free ports. */
export async function startRecordedStores(gate: Gate = () => null): Promise<{ readonly ports: RecordedStores; close(): void }> {
  const [http, grpc, postgres] = await Promise.all([startHttp(gate), startGrpc(gate), listening(createTcpServer({ noDelay: true }, (socket) => answerPostgres(socket, gate)))]);
  const close = (): void => [http, grpc, postgres].forEach((one) => one.close());
  return { ports: { http: http.port, grpc: grpc.port, postgres: postgres.port }, close };
}

if (parentPort !== null) parentPort.postMessage((await startRecordedStores()).ports);
