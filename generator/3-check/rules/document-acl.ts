/** Rules about document access: what the stores can express, and what would read records without it. */
import type { Operand } from "../../../runtime/abi/filter.js";
import type { AclMatch } from "../../../runtime/abi/plan.js";
import { CAPABILITIES } from "../../../runtime/adapters/capabilities.js";
import type { ResolvedConnection } from "../../ir.js";
import { refusal } from "../native.js";
import { directoriesOf, readsOf, type Rule, type Subject } from "../rule.js";

/** What each rule becomes in a store, with a value of a caller who has the claim; numbers and texts compile differently. */
const SAMPLES: { readonly [match in AclMatch]: { readonly op: "in" | "eq" | "lte"; readonly values: readonly Operand[] } } = {
  any_of: { op: "in", values: [["text", "other"], [1, 2]] },
  equals: { op: "eq", values: ["text", 1] },
  at_most: { op: "lte", values: [1] },
};

/** Every store that a tool, a directory or a built-in reads has to carry out every rule. */
export const expressible: Rule = (subject, reporter) => {
  const { documentAcl } = subject.catalog;
  if (documentAcl === null) return;
  for (const connection of readConnections(subject)) {
    for (const { match, field, at } of documentAcl.rules) {
      const what = lacking(connection, match, field);
      if (what !== null) reporter.report("VB2004", { backend: connection.backend, connection: connection.name, what: `document access by ${match}: ${what}` }, { path: at, on: "key" }, { severity: "error" });
    }
  }
};

function readConnections(subject: Subject): ReadonlySet<ResolvedConnection> {
  const read = [...readsOf(subject), ...directoriesOf(subject)].flatMap(({ connection }) => (connection === null ? [] : [connection]));
  const listed = subject.catalog.connections.filter(({ builtins }) => Object.values(builtins).includes(true));
  return new Set([...read, ...listed]);
}

function lacking({ backend }: ResolvedConnection, match: AclMatch, field: string): string | null {
  const can = CAPABILITIES[backend];
  if (match === "any_of" && !can.arrays) return "list fields";
  if (field.includes(".") && !can.nestedPaths) return `nested paths ('${field}')`;
  const { op, values } = SAMPLES[match];
  return values.map((value) => refusal(backend, { path: field, op, value })).find((problem) => problem !== null) ?? null;
}

/** A count that cannot be filtered would count rows of others. */
export const counts: Rule = (subject, reporter) => {
  if (subject.catalog.documentAcl === null) return;
  for (const { tool, connection, can } of readsOf(subject)) {
    if (tool.kind !== "count" || tool.origin !== "user" || can.countWithFilter) continue;
    reporter.report("VB2004", { backend: connection.backend, connection: connection.name, what: "counting with a filter (security.document_acl)" }, { path: [...tool.at, "kind"] }, { severity: "error", tool: tool.name });
  }
};

export const authoring: Rule = ({ catalog }, reporter) => {
  if (catalog.documentAcl === null || catalog.parsed.value.authoring?.define_tool !== true) return;
  reporter.report("TS0241", {}, { path: ["authoring", "define_tool"], on: "key" });
};

/** As VB4012 for the tenant: the model is offered a filter on what decides about access. */
export const parameters: Rule = ({ catalog }, reporter) => {
  const fields = new Set(catalog.documentAcl?.rules.map(({ field }) => field));
  for (const tool of catalog.tools) {
    for (const { name, path, op, at } of tool.parameters) {
      const filtered = path ?? (op === null ? null : name);
      if (filtered === null || !fields.has(filtered)) continue;
      reporter.report("TS0240", { name, path: filtered }, { path: [...at, path === null ? "name" : "path"] }, { tool: tool.name });
    }
  }
};
