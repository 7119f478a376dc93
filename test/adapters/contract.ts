/**
 * The contract of an adapter: what every backend does the same way, on a real store. The oracle of filters is
 * `evaluate` over the same rows. A backend that lacks something is seen to refuse it.
 */
import assert from "node:assert/strict";
import { DESCRIPTORS } from "../../runtime/adapters/descriptors.js";
import { suite } from "../lib/suite.js";
import { OWN_STORE, writeOutcomes } from "../live/outcomes.js";
import { ContractSubject, never, type RegisterCase } from "./contract-case.js";
import { RECORDS } from "./contract-data.js";
import { copyCases } from "./contract-copy.js";
import { filterCases } from "./contract-filters.js";
import { hostileCases } from "./contract-hostile.js";
import { networkCases } from "./contract-network.js";
import { readCases } from "./contract-reads.js";
import type { LiveStore } from "./live-store.js";
import { sameAnswersAsEmbedded } from "./movies.js";
import { callAsTwoTenants } from "./tenants.js";

const TENANT_CALLS = 1000;

/** Registers every case of the contract; `start` is a store, or the reason why there is none. */
export function contract(backend: LiveStore["backend"], start: (() => Promise<LiveStore>) | string): void {
  const cases = suite(`adapters/${backend} contract`);
  if (typeof start === "string") {
    cases.skip("every case", start);
    cases.run();
    return;
  }
  const outcomes = new Map<string, string>();
  const test: RegisterCase = (name, body, options) => cases(name, async () => {
    outcomes.set(name, "FAILED");
    const outcome = await body();
    outcomes.set(name, typeof outcome === "string" ? outcome : "ok");
  }, options);
  const subject = new ContractSubject(backend, test);
  cases.before(async () => {
    const store = await start();
    process.stdout.write(`  ${backend}: ${store.version}\n`);
    await subject.start(store, RECORDS);
  });
  cases.after(async () => {
    const { variant, version } = await subject.end();
    await writeOutcomes(variant, version, outcomes);
  });

  test("health answers", () => subject.adapter.health(never()));
  test("the store is the one that the documentation says the contract ran on, or one of the user's own", () => {
    const { provenOn, variant } = DESCRIPTORS[backend];
    if (process.env[`${backend.toUpperCase()}_URL`] !== undefined || process.env["TOOLSRV_LIVE_OUTCOMES"] === undefined) return OWN_STORE;
    assert.ok([...(provenOn ?? []), ...(variant?.provenOn ?? [])].includes(subject.store.version), subject.store.version);
    return undefined;
  });
  readCases(test, subject);
  copyCases(test, subject);
  filterCases(test, subject);
  hostileCases(test, subject);
  networkCases(test, subject);
  test(`${TENANT_CALLS} random calls of two tenants through compiled tools: no row crosses, none is lost`, () => callAsTwoTenants(subject.store, TENANT_CALLS), { timeoutMs: 240_000 });
  test("the films of the quickstart answer as on the embedded store: same rows, same order, same scores", () => sameAnswersAsEmbedded(subject.store), { timeoutMs: 800_000 });
  test("the adapter has no method that writes", () => {
    const methods = new Set<string>();
    for (let part: object | null = subject.adapter; part !== null && part !== Object.prototype; part = Object.getPrototypeOf(part) as object | null) for (const name of Object.getOwnPropertyNames(part)) methods.add(name);
    for (const name of ["insert", "upsert", "update", "delete", "drop", "dropCollection", "write", "execute"]) assert.ok(!methods.has(name), name);
  });
  cases.run();
}
