/** What clients of stores are given and kept from, so that a search costs no more than it must. */
import * as assert from "node:assert/strict";
import * as milvus from "@zilliz/milvus2-sdk-node";
import type { SearchRequest } from "../../runtime/adapters/adapter.js";
import { dropRetries } from "../../runtime/adapters/milvus/client.js";
import { numbersOf } from "../../runtime/adapters/numbers.js";
import { PreparedReads } from "../../runtime/adapters/prepared.js";
import { ASSUMED, searchQuery } from "../../runtime/adapters/weaviate/queries.js";
import { suite } from "../lib/suite.js";

const test = suite("adapters/clients");

interface Options {
  channelOptions: { interceptors: readonly unknown[] };
}

test("milvus: the client keeps what writes credentials and loses only what retries", () => {
  const client = new milvus.MilvusClient({ address: "127.0.0.1:1", ssl: false, token: "t", __SKIP_CONNECT__: true, telemetry: { enabled: false }, pool: { min: 0, max: 1 } });
  const options = (client as unknown as Options).channelOptions;
  const before = options.interceptors;
  dropRetries(client);
  assert.deepEqual([before.length, options.interceptors.length], [3, 2]);
  options.interceptors.forEach((one, index) => assert.equal(one, before[index]));
});

test("milvus: a client that is made otherwise stays as it is", () => {
  const [a, b, c] = [{}, {}, {}];
  for (const client of [{}, { channelOptions: { interceptors: [a, b] } }, { channelOptions: { interceptors: [a, b, c] }, telemetryChannelOptions: { interceptors: [a] } }, { channelOptions: { interceptors: [a, b] }, telemetryChannelOptions: { interceptors: [c] } }]) {
    const before = structuredClone(client);
    dropRetries(client);
    assert.deepEqual(client, before);
  }
});

test("weaviate: the vector of a search is short where the client writes it into a text, and whole where it is sent", () => {
  const vector = Float32Array.from({ length: 512 }, (_, index) => Math.sin(index));
  const request: SearchRequest = { collection: "Things", vector, text: null, mode: "dense", alpha: 0.5, filter: null, limit: 3, fields: null };
  const query = searchQuery({ schema: { ...ASSUMED, properties: new Map() }, reads: new PreparedReads() }, request);
  assert.ok(query?.by === "vector");
  assert.equal(String(query.vector), "a vector of 512 numbers");
  assert.deepEqual(JSON.parse(JSON.stringify(query.vector)), [...vector]);
  assert.ok(Array.isArray(query.vector) && query.vector.length === 512);
});

test("the numbers of a vector are those that it has", () => {
  for (const vector of [new Float32Array(), Float32Array.of(0, -0, 1e-40, 0.1, -3)]) assert.deepEqual(numbersOf(vector), [...vector]);
});

test.run();
