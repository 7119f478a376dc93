/** What is Weaviate's own: native tenants beside the filter, and who makes vectors of query texts. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import weaviate, { ApiKey, configure, vectors } from "weaviate-client";
import { isBackendError } from "../../runtime/abi/errors.js";
import type { Filter, Row } from "../../runtime/abi/filter.js";
import type { Adapter, Settings } from "../../runtime/adapters/adapter.js";
import { adapter as module } from "../../runtime/adapters/weaviate/index.js";
import { suite } from "../lib/suite.js";

const test = suite("adapters/weaviate tenants");
const url = process.env["TOOLSRV_TEST_WEAVIATE"];
const grpcUrl = process.env["TOOLSRV_TEST_WEAVIATE_GRPC"] ?? "";
const key = process.env["TOOLSRV_TEST_WEAVIATE_KEY"];
const never = (): AbortSignal => new AbortController().signal;
const live = (name: string, body: () => Promise<void>): void => (url === undefined ? test.skip(name, "needs Weaviate; make live builds it") : test(name, body, { timeoutMs: 30_000 }));

async function inTenants(run: (open: (settings?: Settings) => Promise<Adapter>, collection: string) => Promise<void>): Promise<void> {
  const [http, grpc] = [new URL(url ?? ""), new URL(grpcUrl)];
  const client = await weaviate.connectToCustom({ httpHost: http.hostname, httpPort: Number(http.port), grpcHost: grpc.hostname, grpcPort: Number(grpc.port), ...(key === undefined ? {} : { authCredentials: new ApiKey(key) }) });
  const name = `T${randomUUID().slice(0, 8)}`;
  const opened: Adapter[] = [];
  try {
    await client.collections.create({ name, vectorizers: vectors.selfProvided(), multiTenancy: configure.multiTenancy({ enabled: true }), properties: [{ name: "owner", dataType: "text", tokenization: "field" as never }] });
    const all = client.collections.get(name);
    await all.tenants.create([{ name: "acme" }, { name: "globex" }]);
    for (const tenant of ["acme", "globex"]) await all.withTenant(tenant).data.insertMany([{ properties: { owner: tenant }, vectors: [1, 0, 0] }, { properties: { owner: "both" }, vectors: [0, 1, 0] }] as never);
    await run(async (settings = {}) => {
      const adapter = await module.open({ url: url ?? "", grpc_url: grpcUrl, ...(key === undefined ? {} : { api_key: key }), ...settings }, { base: process.cwd() });
      opened.push(adapter);
      return adapter;
    }, name);
  } finally {
    for (const adapter of opened) await adapter.close();
    await client.collections.delete(name);
    await client.close();
  }
}

const owners = (rows: readonly Row[]): unknown[] => rows.map((row) => row["owner"]).sort();
const fetch = (collection: string, tenant: string | null, filter: Filter | null = null): Parameters<Adapter["fetch"]>[0] => ({ collection, filter, limit: 10, offset: 0, fields: null, ...(tenant === null ? {} : { route: { tenant } }) });

live("a read of one tenant reaches no row of another, and the filter holds within it", () => inTenants(async (open, collection) => {
  const adapter = await open();
  assert.deepEqual(owners((await adapter.fetch(fetch(collection, "acme"), never())).rows), ["acme", "both"]);
  const filter: Filter = { path: "owner", op: "eq", value: "globex" };
  assert.deepEqual((await adapter.fetch(fetch(collection, "acme", filter), never())).rows, []);
  assert.equal(await adapter.count(collection, null, never(), { tenant: "globex" }), 2);
  const { rows } = await adapter.search({ collection, vector: Float32Array.of(1, 0, 0), text: null, mode: "dense", alpha: 0.5, filter: null, limit: 10, fields: null, route: { tenant: "globex" } }, never());
  assert.deepEqual(owners(rows), ["both", "globex"]);
}));

live("a read without a tenant, or of one that does not exist, is an error and no rows", () => inTenants(async (open, collection) => {
  const adapter = await open();
  for (const [tenant, kind] of [[null, "bad_request"], ["nobody", "not_found"]] as const) {
    const error: unknown = await adapter.fetch(fetch(collection, tenant), never()).catch((error: unknown) => error);
    assert.ok(isBackendError(error) && (error as { kind?: string }).kind === kind, String(error));
  }
}));

live("a description is of the connection's own tenant", () => inTenants(async (open, collection) => {
  const adapter = await open({ tenant: "acme" });
  assert.deepEqual([(await adapter.describe(collection, never()))?.count, owners(await adapter.sample(collection, 5, never()))], [2, ["acme", "both"]]);
}));

live("a collection without a vectorizer: auto and client leave the text to the caller, server is an error", () => inTenants(async (open, collection) => {
  assert.equal(await (await open()).embedsText?.(collection, never()), false);
  assert.equal(await (await open({ embedding_mode: "client" })).embedsText?.(collection, never()), false);
  await assert.rejects(async () => (await open({ embedding_mode: "server" })).embedsText?.(collection, never()), /no vectorizer/);
}));

test.run();
