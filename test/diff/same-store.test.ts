/** Which settings of a connection say where its records are: a change of any other leaves the store the same. */
import * as assert from "node:assert/strict";
import { isSameStore, mayBeSameStore } from "../../generator/diff/reach.js";
import type { BackendName } from "../../runtime/abi/plan.js";
import { DESCRIPTORS } from "../../runtime/adapters/descriptors.js";
import { suite } from "../lib/suite.js";

const test = suite("diff/same-store");

const SAME = ["api_key", "auth_token", "token", "user", "password", "vector_column", "id_column", "mode", "embedding_mode", "codes_memory_mb"];
const ADDRESS = ["path", "url", "grpc_url", "dsn", "table", "host", "namespace", "tenant", "uri", "database"];

test("another credential or option is the same store, another address is another one", () => {
  const seen = new Set<string>();
  for (const [name, { settings }] of Object.entries(DESCRIPTORS)) {
    for (const key of Object.keys(settings)) {
      seen.add(key);
      const store = (value: string): { readonly backend: BackendName; readonly settings: { readonly [key: string]: string } } => ({ backend: name as BackendName, settings: { [key]: value } });
      assert.equal(isSameStore(store("a"), store("b")), SAME.includes(key), `${name} ${key}`);
      assert.equal(mayBeSameStore(store("a"), store("b")), SAME.includes(key), `${name} ${key}`);
    }
  }
  assert.deepEqual([...seen].sort(), [...SAME, ...ADDRESS].sort());
});

test("a setting that no descriptor knows may say where records are", () => {
  const store = (value: string): { readonly backend: BackendName; readonly settings: { readonly [key: string]: string } } => ({ backend: "sqlite", settings: { path: "a.db", toString: value } });
  assert.equal(isSameStore(store("a"), store("b")), false);
});

test.run();
