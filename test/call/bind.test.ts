import * as assert from "node:assert/strict";
import type { BoundRead, CallContext } from "../../runtime/abi/call.js";
import { isToolError } from "../../runtime/abi/errors.js";
import type { TenantPlan } from "../../runtime/abi/plan.js";
import { bind } from "../../runtime/call/steps/bind.js";
import { suite } from "../lib/suite.js";
import { caller } from "./program.js";

const test = suite("call/bind");

const plan: BoundRead["plan"] = {
  connection: "main",
  collection: "things",
  query: { arg: "q", required: true, embedding: "default", mode: "dense" },
  guard: { and: [{ path: "owner", op: "eq", value: "ann" }, { path: "gone", op: "ne", value: true }] },
  bind: [{ arg: "size", path: "size", op: "gte" }, { arg: "owner", path: "owner", op: "eq" }, { arg: "kinds", path: "kind", op: "in" }],
  limit: { arg: "limit", default: 10, max: 50 },
};
const tenant: TenantPlan = { from: "claim", name: "org", path: "org", enforce: "strict" };

function context(principal: Partial<CallContext["principal"]> = {}): CallContext {
  return { ...caller(principal), warnings: [] as string[], services: { guard: (guard: unknown) => guard } } as unknown as CallContext;
}

function refusal(work: () => unknown): { readonly code: string; readonly message: string } {
  try {
    work();
  } catch (error) {
    assert.ok(isToolError(error));
    return { code: error.code, message: error.message };
  }
  return assert.fail("nothing was refused");
}

test("the filter is guard, then tenant, then arguments, as one flat AND", () => {
  const bound = bind({ ...plan, tenant }, { q: "x", size: 3, kinds: ["a"] }, context({ claims: { org: "acme" } }));
  assert.deepEqual(bound.filter, {
    and: [
      { path: "owner", op: "eq", value: "ann" },
      { path: "gone", op: "ne", value: true },
      { path: "org", op: "eq", value: "acme" },
      { path: "size", op: "gte", value: 3 },
      { path: "kind", op: "in", value: ["a"] },
    ],
  });
});

test("an argument on a guarded path is ANDed to the guard, never put in its place", () => {
  const bound = bind(plan, { q: "x", owner: "bob" }, context());
  assert.deepEqual(bound.filter, { and: [{ path: "owner", op: "eq", value: "ann" }, { path: "gone", op: "ne", value: true }, { path: "owner", op: "eq", value: "bob" }] });
});

test("absent and null arguments add no condition; false, 0 and empty lists do", () => {
  assert.deepEqual(bind({ ...plan, guard: { or: [] } }, { q: "x", size: null }, context()).filter, { or: [] });
  assert.deepEqual(bind({ connection: "c", collection: "t", bind: plan.bind }, { size: 0, kinds: [] }, context()).filter, { and: [{ path: "size", op: "gte", value: 0 }, { path: "kind", op: "in", value: [] }] });
  assert.equal(bind({ connection: "c", collection: "t", bind: plan.bind }, {}, context()).filter, null);
});

test("the limit is the argument's, the default's, and never more than the maximum", () => {
  const limits = [[undefined, 10], [3, 3], [51, 50], [0, 1], ["9", 10]] as const;
  for (const [limit, want] of limits) assert.equal(bind(plan, { q: "x", limit }, context()).limit, want);
  const { limit: _, ...lookup } = plan;
  assert.equal(bind({ ...lookup, rows: 2 }, { q: "x", limit: 9 }, context()).limit, 2);
});

test("a required query must have text", () => {
  for (const q of [undefined, "", 5]) assert.equal(refusal(() => bind(plan, { q }, context())).message, "q: required, expected a non-empty string");
});

test("a collection that an argument names must be among those allowed", () => {
  const multi = { ...plan, collection: { arg: "collection", allowed: ["a", "b"] } };
  assert.equal(bind(multi, { q: "x", collection: "b" }, context()).collection, "b");
  assert.equal(refusal(() => bind(multi, { q: "x", collection: "c" }, context())).message, "collection: expected one of 'a', 'b'");
  assert.equal(refusal(() => bind(multi, { q: "x" }, context())).code, "invalid_arguments");
});

test("a caller without a tenant is refused, whatever the claim or header holds instead", () => {
  const nothing = [{}, { org: null }, { org: "" }, { org: [] }, { org: ["a", null] }, { org: { a: 1 } }, { org: 2 ** 53 }, { org: ["a", -(2 ** 53)] }, { org: 1e21 }, { org: Number.NaN }, { org: Number.POSITIVE_INFINITY }];
  for (const claims of nothing) assert.deepEqual(refusal(() => bind({ ...plan, tenant }, { q: "x" }, context({ claims }))).code, "auth_error");
  const header: TenantPlan = { ...tenant, from: "header", name: "X-Tenant-Id" };
  assert.match(refusal(() => bind({ ...plan, tenant: header }, { q: "x" }, context())).message, /tenancy value is required/);
});

test("the tenant comes from a claim or a header; a list of tenants admits each", () => {
  const filterOf = (from: TenantPlan, principal: Partial<CallContext["principal"]>) => bind({ connection: "c", collection: "t", bind: [], tenant: from }, {}, context(principal)).filter;
  assert.deepEqual(filterOf(tenant, { claims: { org: 5 } }), { path: "org", op: "eq", value: "5" });
  assert.deepEqual(filterOf(tenant, { claims: { org: ["a", "b"] } }), { path: "org", op: "in", value: ["a", "b"] });
  assert.deepEqual(filterOf({ ...tenant, from: "header", name: "X-Tenant-Id" }, { headers: { "x-tenant-id": "acme" } }), { path: "org", op: "eq", value: "acme" });
});

test("an argument that names another tenant: strict refuses, override drops it, warn drops it and says so", () => {
  const fenced = { connection: "c", collection: "t", bind: [{ arg: "org", path: "org", op: "eq" as const }], tenant };
  const me = { claims: { org: "acme" } };
  assert.equal(refusal(() => bind(fenced, { org: "other" }, context(me))).code, "VB4010");
  for (const enforce of ["override", "warn"] as const) {
    const call = context(me);
    assert.deepEqual(bind({ ...fenced, tenant: { ...tenant, enforce } }, { org: "other" }, call).filter, { path: "org", op: "eq", value: "acme" });
    assert.deepEqual(call.warnings, enforce === "warn" ? ["VB4010"] : []);
  }
  const same = bind(fenced, { org: "acme" }, context(me)).filter;
  assert.deepEqual(same, { and: [{ path: "org", op: "eq", value: "acme" }, { path: "org", op: "eq", value: "acme" }] });
});

test("an argument of a written filter that names another tenant is treated alike, in alternatives too", () => {
  const ofParam = { path: "org", op: "eq", param: "dept" } as const;
  const open = { path: "open", op: "eq", value: true } as const;
  const own = { path: "org", op: "eq", value: "acme" };
  const me = { claims: { org: "acme" } };
  for (const [filter, left] of [[ofParam, own], [{ and: [open, ofParam] }, { and: [own, open] }], [{ or: [ofParam, open] }, { and: [own, open] }], [{ or: [{ and: [ofParam, open] }, open] }, { and: [own, { or: [open, open] }] }]] as const) {
    const fenced = { connection: "c", collection: "t", bind: [], tenant, filter };
    assert.equal(refusal(() => bind(fenced, { dept: "other" }, context(me))).code, "VB4010");
    for (const enforce of ["override", "warn"] as const) {
      const call = context(me);
      assert.deepEqual(bind({ ...fenced, tenant: { ...tenant, enforce } }, { dept: "other" }, call).filter, left);
      assert.deepEqual(call.warnings, enforce === "warn" ? ["VB4010"] : []);
    }
    assert.doesNotThrow(() => bind(fenced, { dept: "acme" }, context(me)));
    assert.doesNotThrow(() => bind(fenced, {}, context(me)));
  }
});

test.run();
