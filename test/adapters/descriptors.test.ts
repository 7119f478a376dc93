/** One descriptor per backend: complete, and of one mind with the catalog's schema. */
import * as assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { BACKENDS } from "../../runtime/abi/plan.js";
import type { Filter } from "../../runtime/abi/filter.js";
import { DESCRIPTORS } from "../../runtime/adapters/descriptors.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";
import { never, record, scratch, storeOf } from "./store.js";

const test = suite("adapters/descriptors");

interface SchemaObject {
  readonly properties: { readonly [key: string]: { readonly const?: string; readonly default?: unknown } };
}

test("every folder of a backend has one descriptor, under its own name", () => {
  const folders = readdirSync(repo("runtime/adapters"), { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name);
  assert.deepEqual([...folders].sort(), [...BACKENDS].sort());
  for (const [name, descriptor] of Object.entries(DESCRIPTORS)) assert.equal(descriptor.name, name);
});

test("the schema of catalogs has the settings of each descriptor, and no others, with the same defaults", () => {
  const { definitions } = JSON.parse(readFileSync(repo("specs/tds.schema.json"), "utf8")) as { definitions: { readonly [name: string]: SchemaObject } };
  const common = new Set(["backend", "builtin_tools", "builtin_defaults", "credentials"]);
  const bySchema = Object.values(definitions).filter(({ properties }) => properties?.["backend"]?.const !== undefined);
  assert.deepEqual(bySchema.map(({ properties }) => String(properties["backend"]?.const)).sort(), [...BACKENDS].sort());
  for (const { properties } of bySchema) {
    const { name, settings } = DESCRIPTORS[String(properties["backend"]?.const) as keyof typeof DESCRIPTORS];
    const written = Object.entries(properties).filter(([key]) => !common.has(key)).map(([key, { default: value }]) => [key, value ?? null]);
    assert.deepEqual(Object.fromEntries(written), Object.fromEntries(Object.entries(settings).map(([key, { default: value }]) => [key, value])), name);
  }
});

test("a route that a descriptor names is a setting that says where records are read", () => {
  for (const { name, settings, capabilities } of Object.values(DESCRIPTORS)) {
    for (const key of capabilities.routes) assert.equal(settings[key]?.use, "place", `${name} ${key}`);
  }
});

test("dates are compared as instants, or refused: as the descriptor says", () => {
  const filter: Filter = { path: "due", op: "gte", value: "2026-04-13", dtype: "datetime" };
  for (const { name, capabilities, compileFilter } of Object.values(DESCRIPTORS)) {
    if (capabilities.comparesInstants) assert.ok(compileFilter(filter), name);
    else assert.throws(() => compileFilter(filter), { name: "BackendError" }, name);
  }
});

test("an adapter that carries no route out refuses it on every request, instead of reading everything", async () => {
  const { folder, remove } = scratch();
  const store = await storeOf(folder, [record("1", { a: 1 })]);
  const route = { namespace: "acme" };
  const refused = { name: "BackendError", kind: "unsupported", message: "sqlite does not support isolation by namespace" };
  await assert.rejects(store.search({ collection: "things", vector: null, text: "a", mode: "hybrid", alpha: 0, filter: null, route, limit: 1, fields: null }, never), refused);
  await assert.rejects(store.fetch({ collection: "things", filter: null, route, limit: 1, offset: 0, fields: null }, never), refused);
  await assert.rejects(store.count("things", null, never, route), refused);
  await store.close();
  remove();
});

test.run();
