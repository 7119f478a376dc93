/** Document access: what the caller's claims become, and every way of not having them. */
import assert from "node:assert/strict";
import type { Principal } from "../../runtime/abi/call.js";
import { isToolError } from "../../runtime/abi/errors.js";
import type { Filter } from "../../runtime/abi/filter.js";
import type { AclRule, DocumentAclPlan } from "../../runtime/abi/plan.js";
import { aclFilter } from "../../runtime/call/steps/document-acl.js";
import { suite } from "../lib/suite.js";

const test = suite("call/document-acl");

const GROUPS: AclRule = { match: "any_of", claim: "groups", field: "allowed" };
const OWNER: AclRule = { match: "equals", claim: "sub", field: "owner" };
const LEVEL: AclRule = { match: "at_most", claim: "clearance", field: "level" };

const by = (claims: Principal["claims"]): Principal => ({ id: "someone", claims, headers: {} });

/** The filter, or the code of the refusal. */
function filterOf(plan: DocumentAclPlan, claims: Principal["claims"]): Filter | string {
  try {
    return aclFilter(plan, by(claims));
  } catch (error) {
    if (isToolError(error)) return error.code;
    throw error;
  }
}

const all = (...rules: readonly AclRule[]): DocumentAclPlan => ({ combine: "all", rules });
const any = (...rules: readonly AclRule[]): DocumentAclPlan => ({ combine: "any", rules });

test("each rule is one condition on the caller's own value", () => {
  assert.deepEqual(filterOf(all(GROUPS), { groups: ["a", "b"] }), { path: "allowed", op: "in", value: ["a", "b"] });
  assert.deepEqual(filterOf(all(GROUPS), { groups: "a" }), { path: "allowed", op: "in", value: ["a"] });
  assert.deepEqual(filterOf(all(OWNER), { sub: "ann" }), { path: "owner", op: "eq", value: "ann" });
  assert.deepEqual(filterOf(all(LEVEL), { clearance: 3 }), { path: "level", op: "lte", value: 3 });
});

test("all is a conjunction and any an alternative of the rules", () => {
  const claims = { groups: ["a"], sub: "ann" };
  const parts = [{ path: "allowed", op: "in", value: ["a"] }, { path: "owner", op: "eq", value: "ann" }];
  assert.deepEqual(filterOf(all(GROUPS, OWNER), claims), { and: parts });
  assert.deepEqual(filterOf(any(GROUPS, OWNER), claims), { or: parts });
});

const UNUSABLE: readonly (readonly [what: string, rule: AclRule, value: unknown])[] = [
  ["a missing claim", GROUPS, undefined],
  ["null", GROUPS, null],
  ["an empty list", GROUPS, []],
  ["an empty text", GROUPS, ""],
  ["an empty text in a list", GROUPS, ["a", ""]],
  ["a list in a list", GROUPS, ["a", ["b"]]],
  ["an object in a list", GROUPS, ["a", { b: 1 }]],
  ["null in a list", GROUPS, ["a", null]],
  ["a hole in a list", GROUPS, ["a", , "b"]],
  ["an object", GROUPS, { a: true }],
  ["a boolean", GROUPS, true],
  ["more than 256 entries", GROUPS, Array.from({ length: 257 }, (_, index) => `g${index}`)],
  ["a claim of a megabyte in many entries", GROUPS, Array.from({ length: 200_000 }, () => "group")],
  ["a text of a megabyte", GROUPS, "a".repeat(1 << 20)],
  ["a text of a megabyte in a list", GROUPS, ["a".repeat(1 << 20)]],
  ["NaN in a list", GROUPS, [Number.NaN]],
  ["a number that JSON has rounded", GROUPS, 2 ** 53],
  ["a number that JSON has rounded in a list", GROUPS, ["a", 1e21]],
  ["a missing claim", OWNER, undefined],
  ["a number that JSON has rounded", OWNER, -(2 ** 53)],
  ["an empty text", OWNER, ""],
  ["a list of one", OWNER, ["ann"]],
  ["an object", OWNER, { toString: () => "ann" }],
  ["a missing claim", LEVEL, undefined],
  ["digits in a text", LEVEL, "3"],
  ["a boolean", LEVEL, true],
  ["a list of one", LEVEL, [3]],
  ["infinity", LEVEL, Number.POSITIVE_INFINITY],
  ["NaN", LEVEL, Number.NaN],
];

test("under all, a claim that is missing or not usable refuses the call", () => {
  const rest: Principal["claims"] = { groups: ["a"], sub: "ann", clearance: 3 };
  for (const [what, rule, value] of UNUSABLE) {
    assert.equal(filterOf(all(GROUPS, OWNER, LEVEL), { ...rest, [rule.claim]: value }), "auth_error", `${rule.match}: ${what}`);
  }
});

test("under any, a claim that is missing or not usable admits no row, and the other rules still do", () => {
  for (const [what, rule, value] of UNUSABLE) {
    const other = rule.claim === "sub" ? { rule: GROUPS, claims: { groups: ["a"] }, want: { path: "allowed", op: "in", value: ["a"] } } : { rule: OWNER, claims: { sub: "ann" }, want: { path: "owner", op: "eq", value: "ann" } };
    assert.deepEqual(filterOf(any(rule, other.rule), { ...other.claims, [rule.claim]: value }), other.want, `${rule.match}: ${what}`);
  }
});

test("under any, a call is refused when no claim is usable", () => {
  for (const [what, rule, value] of UNUSABLE) assert.equal(filterOf(any(rule), { [rule.claim]: value }), "auth_error", `${rule.match}: ${what}`);
  assert.equal(filterOf(any(GROUPS, OWNER, LEVEL), {}), "auth_error");
});

test("a plan without rules admits nobody", () => {
  assert.equal(filterOf(all(), { groups: ["a"] }), "auth_error");
  assert.equal(filterOf(any(), { groups: ["a"] }), "auth_error");
});

test("a claim that only the prototype has is missing", () => {
  assert.equal(filterOf(all({ ...OWNER, claim: "constructor" }), {}), "auth_error");
  assert.equal(filterOf(all(OWNER), Object.create({ sub: "ann" }) as Principal["claims"]), "auth_error");
});

test("the refusal names the claims and repeats nothing of their values", () => {
  try {
    aclFilter(all(GROUPS, LEVEL), by({ groups: ["secret", {}], clearance: "secret" }));
    assert.fail("not refused");
  } catch (error) {
    assert.match(String(error), /document access: the caller needs the claim 'groups' \(.*\) or 'clearance' \(a number\)/);
    assert.doesNotMatch(String(error), /secret/);
  }
});

test("256 entries and texts of 1,024 characters are usable", () => {
  const groups = Array.from({ length: 256 }, (_, index) => `${index}`.padEnd(1024, "g"));
  assert.deepEqual(filterOf(all(GROUPS), { groups }), { path: "allowed", op: "in", value: groups });
});

test.run();
