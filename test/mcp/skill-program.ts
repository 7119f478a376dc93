/** A catalog that offers a skill, compiled as `serve` compiles it. */
import { createRender } from "../../generator/5-emit/templates.js";
import { servedSkill } from "../../generator/5-emit/skill.js";
import { compile } from "../../generator/compile.js";
import type { Plans } from "../../generator/ir.js";
import { programOf } from "../../generator/program.js";
import type { Program } from "../../runtime/abi/call.js";
import { root } from "../lib/repo.js";
import { pathToFileURL } from "node:url";

const RBAC = { enabled: true, default_role: "reader", deny_tools: ["count_secrets"], roles: { reader: { allow: ["search_notes"] }, auditor: { allow: ["*"] } } };

/** Everything in capitals must not be served. */
export const CATALOG = {
  tds_version: "2",
  defaults: { embedding: "local/hashing-256" },
  connections: { store: { backend: "sqlite", path: "./PATHCANARY.db" } },
  skill: { name: "field-notes" },
  security: { tenancy: { mode: "claim", claim: "CLAIMCANARY", path: "TENANTCANARY" }, rbac: RBAC },
  tools: [
    { name: "search_notes", description: "Search notes by their words: \"quoted\", é, 映画.", query: { required: true }, target: { connection: "store", collection: "COLLECTIONCANARY" }, static_filters: [{ path: "GUARDPATHCANARY", value: "GuardCanary" }], output: { fields: ["text"] } },
    { name: "count_ledger", kind: "count", description: "LEDGER counts entries of the ledger for auditors.", target: { connection: "store", collection: "ledger" } },
    { name: "count_secrets", kind: "count", description: "DENIEDCANARY counts what nobody may count at all.", target: { connection: "store", collection: "secrets" } },
  ],
};

/** @param change replaces keys of the catalog; undefined removes one. */
export function skillPlans(change: { readonly [key: string]: unknown } = {}): Plans {
  const { value, diagnostics } = compile({ path: "tools.yaml", text: JSON.stringify({ ...CATALOG, ...change }) }, { target: "build" });
  if (value === null) throw new Error(JSON.stringify(diagnostics));
  return value.plans;
}

export async function skillProgram(change: { readonly [key: string]: unknown } = {}): Promise<Program> {
  const plans = skillPlans(change);
  return programOf(plans, { base: pathToFileURL(`${root}/`), skill: servedSkill(plans, createRender()) });
}
