/** Roles: the decision itself, one test a sentence. */
import assert from "node:assert/strict";
import type { Principal } from "../../runtime/abi/call.js";
import type { RbacPlan } from "../../runtime/abi/plan.js";
import { createAccess, decide, rolesOf } from "../../runtime/access/rbac.js";
import { suite } from "../lib/suite.js";

const test = suite("roles");

const RULES: RbacPlan = {
  default_role: "viewer", role_claim: "roles", deny_tools: ["x", "run_tool"],
  roles: { viewer: { allow: ["a"] }, editor: { allow: ["b", "c"] }, admin: { allow: ["*"] }, idle: { allow: [] } },
};

function principal(claims: Principal["claims"]): Principal {
  return { id: null, claims, headers: {} };
}

function verdict(claims: Principal["claims"], tool: string, rules = RULES): string {
  return decide(rules, rolesOf(rules, claims), tool);
}

test("the claim of a caller names the roles, one text being one role", () => {
  const table: readonly (readonly [unknown, readonly string[]])[] = [
    [undefined, ["viewer"]], [null, ["viewer"]], ["", ["viewer"]], ["admin", ["admin"]], ["admin viewer", ["admin viewer"]], ["admin,viewer", ["admin,viewer"]],
    [["admin", "nope"], ["admin", "nope"]], [[], []], [5, ["5"]], [2 ** 53, []], [[1e21, 5], ["5"]], [true, ["true"]], [[1, "", null, { a: 1 }, ["admin"]], ["1"]], [{ admin: true }, []],
  ];
  for (const [roles, want] of table) assert.deepEqual(rolesOf(RULES, { roles }), want, JSON.stringify(roles));
  assert.deepEqual(rolesOf(RULES, {}), ["viewer"]);
});

test("only a claim of the caller's own counts", () => {
  assert.deepEqual(rolesOf({ ...RULES, role_claim: "constructor" }, {}), ["viewer"]);
  assert.deepEqual(rolesOf({ ...RULES, role_claim: "groups" }, { roles: "admin", groups: ["editor"] }), ["editor"]);
});

test("a role may call what it allows, and '*' is every tool", () => {
  assert.equal(verdict({}, "a"), "allowed");
  assert.equal(verdict({}, "b"), "not permitted");
  assert.equal(verdict({ roles: "admin" }, "b"), "allowed");
  assert.equal(verdict({ roles: "idle" }, "a"), "not permitted");
});

test("several roles may call what any of them allows", () => {
  assert.equal(verdict({ roles: ["viewer", "editor"] }, "a"), "allowed");
  assert.equal(verdict({ roles: ["viewer", "editor"] }, "c"), "allowed");
  assert.equal(verdict({ roles: ["viewer", "editor"] }, "d"), "not permitted");
});

test("deny_tools wins over an allow, also over '*'", () => {
  assert.equal(verdict({ roles: "admin" }, "x"), "denied");
  const both = { ...RULES, roles: { viewer: { allow: ["x"] } } };
  assert.equal(verdict({}, "x", both), "denied");
});

test("a role that the catalog does not know allows nothing", () => {
  for (const roles of ["nope", "admin viewer", "Admin", "constructor", "__proto__", "toString"]) assert.equal(verdict({ roles }, "a"), "not permitted", roles);
  assert.equal(verdict({}, "a", { ...RULES, default_role: "nope" }), "not permitted");
});

test("a caller whose list of roles is empty may call nothing", () => {
  assert.equal(verdict({ roles: [] }, "a"), "not permitted");
});

test("callers with the same known roles are one audience", () => {
  const access = createAccess(RULES);
  const audience = (roles: unknown): string => access.audience(principal({ roles }));
  assert.equal(audience(["admin", "viewer", "nope", "viewer"]), audience(["viewer", "admin"]));
  assert.equal(audience(undefined), audience("viewer"));
  assert.notEqual(audience("viewer"), audience("admin"));
  assert.equal(audience([]), audience("nope"));
});

test("a refusal is an auth_error that names the tool and the caller's roles", () => {
  const access = createAccess(RULES);
  const refusal = (roles: unknown, tool: string): unknown => {
    const error = access.refusal(tool, principal({ roles }));
    return error === null ? null : [error.code, error.message];
  };
  assert.equal(refusal("admin", "b"), null);
  assert.deepEqual(refusal("viewer", "b"), ["auth_error", "tool 'b' is not permitted for role viewer"]);
  assert.deepEqual(refusal(["viewer", "nope"], "b"), ["auth_error", "tool 'b' is not permitted for role viewer, nope"]);
  assert.deepEqual(refusal([], "b"), ["auth_error", "tool 'b' is not permitted: the caller has no role"]);
  assert.deepEqual(refusal("admin", "x"), ["auth_error", "tool 'x' is denied"]);
  assert.deepEqual(access.isDenied("run_tool"), true);
});

test("more audiences than are remembered are decided as well", () => {
  const roles = Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`r${n}`, { allow: [`t${n}`] }]));
  const access = createAccess({ ...RULES, roles });
  for (let bits = 0; bits < 1024; bits++) {
    const held = Array.from({ length: 10 }, (_, n) => n).filter((n) => (bits & (1 << n)) !== 0);
    const caller = principal({ roles: held.map((n) => `r${n}`) });
    for (let n = 0; n < 10; n++) assert.equal(access.refusal(`t${n}`, caller) === null, held.includes(n));
  }
});

test("without roles in the catalog everybody may call everything", () => {
  const access = createAccess(undefined);
  assert.deepEqual([access.restricted, access.refusal("a", principal({ roles: [] })), access.audience(principal({ roles: "x" }))], [false, null, ""]);
});

test.run();
