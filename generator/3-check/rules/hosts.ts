/** Advice about the programs that will show these tools to a model. What they refuse was looked up, not guessed. */
import type { Resolved } from "../../ir.js";
import type { Rule } from "../rule.js";

/** Hosts prefix names with the server's (`mcp__docs__search`) and limit the result to 64 characters. */
const NAME_LIMIT = 48;
/** Functions that the common model APIs take in one request. */
const TOOLS_LIMIT = 128;

export const longNames: Rule = ({ catalog }, reporter) => {
  for (const { name, at, origin } of catalog.tools) {
    if (name.length <= NAME_LIMIT) continue;
    const where = origin === "user" ? { path: [...at, "name"] } : { path: at, on: "key" as const };
    reporter.report("TS0501", { name, length: name.length, limit: NAME_LIMIT }, where, { tool: name });
  }
};

export const numericEnums: Rule = ({ catalog }, reporter) => {
  for (const tool of catalog.tools) {
    for (const { name, at, enum: members, resolve } of tool.parameters) {
      if (members === null || resolve?.kind === "directory" || members.every((member) => typeof member === "string")) continue;
      reporter.report("TS0503", { name }, { path: [...at, "enum"], on: "key" }, { tool: tool.name });
    }
  }
};

export const manyTools: Rule = ({ catalog }, reporter) => {
  for (const { who, tools } of audiencesOf(catalog)) {
    if (tools > TOOLS_LIMIT) reporter.report("TS0504", { tools, who, limit: TOOLS_LIMIT }, { path: ["tools"], on: "key" });
  }
};

/** Who sees how many tools: each role where roles are checked, else everyone. */
function audiencesOf({ tools, parsed }: Resolved): readonly { readonly who: string; readonly tools: number }[] {
  const rbac = parsed.value.security?.rbac;
  if (rbac?.enabled !== true) return [{ who: "everyone", tools: tools.length }];
  const denied = new Set(rbac.deny_tools ?? []);
  return Object.entries(rbac.roles ?? {}).map(([role, { allow = [] }]) => {
    const seen = tools.filter(({ name }) => !denied.has(name) && (allow.includes("*") || allow.includes(name)));
    return { who: `role '${role}'`, tools: seen.length };
  });
}
