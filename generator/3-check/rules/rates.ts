/** Rules about rate limits: each one that is written is in force. */
import { nearestName } from "../../../runtime/base/nearest.js";
import { readRate } from "../../../runtime/base/rate.js";
import type { RateLimitPlan } from "../../../runtime/abi/plan.js";
import type { Path } from "../../ir.js";
import type { Rule } from "../rule.js";

const AT: Path = ["security", "rate_limit"];

/** Tools that the server adds; they can have a rate of their own. */
const SERVER_TOOLS: ReadonlySet<string> = new Set(["list_available_tools", "run_tool"]);

export const rates: Rule = ({ catalog }, reporter) => {
  const limit = catalog.parsed.value.security?.rate_limit;
  const names = new Set([...catalog.tools.map(({ name }) => name), ...SERVER_TOOLS]);
  for (const [tool, value] of Object.entries(limit?.per_tool ?? {})) {
    const path = [...AT, "per_tool", tool];
    // Anything but a text was refused for its shape.
    if (typeof value !== "string") continue;
    const rate = readRate(value);
    if (rate === null) reporter.report("TS0206", { value }, { path }, { tool });
    else if (rate.limit === 0) reporter.report("TS0250", { detail: `'${value}' is no limit for '${tool}'` }, { path }, { tool, severity: "warning", help: "0 means no limit; use security.rbac.deny_tools to forbid a tool" });
    if (limit?.enabled !== true || names.has(tool)) continue;
    const guess = nearestName(tool, names);
    // One that is like no tool is what a removed tool left behind.
    const found = guess === null ? { severity: "warning" as const, help: "remove it, or add the tool" } : { severity: "error" as const, help: `did you mean '${guess}'? That tool would not be limited` };
    reporter.report("TS0250", { detail: `per_tool limits '${tool}', which is not a tool` }, { path, on: "key" }, { tool, ...found });
  }
};

export const limitsInForce: Rule = ({ catalog }, reporter) => {
  const limit = catalog.parsed.value.security?.rate_limit;
  const plan = catalog.settings.security?.rate_limit;
  if (limit === undefined || plan === undefined) return;
  if (limit.global !== undefined && limit.global_limits !== undefined) {
    reporter.report("TS0250", { detail: "global_limits is another name of global, and both are written" }, { path: [...AT, "global_limits"], on: "key" }, { severity: "error", help: "write one of them" });
  }
  if (!hasLimit(plan)) {
    reporter.report("TS0250", { detail: "it is enabled and limits nothing" }, { path: [...AT, "enabled"] }, { severity: "error", help: "add global or per_principal with requests_per_minute, or per_tool with a rate such as 30/minute; or set enabled: false" });
  }
  if (plan.store === "redis" && plan.redis_url === undefined) {
    reporter.report("TS0250", { detail: "store redis needs redis_url" }, { path: [...AT, "store"] }, { severity: "error", help: 'add redis_url: "${REDIS_URL}" and the value to the file given with --env FILE' });
  }
  if (plan.store !== "redis" && plan.redis_url !== undefined) {
    reporter.report("TS0250", { detail: `redis_url is not used, because the store is ${plan.store}: each replica counts for itself` }, { path: [...AT, "redis_url"], on: "key" }, { severity: "warning", help: "write store: redis, or remove redis_url" });
  }
};

function hasLimit({ global, per_principal: perPrincipal, per_tool: perTool }: RateLimitPlan): boolean {
  const numbers = [...Object.values(global), ...Object.values(perPrincipal)];
  return numbers.some((value) => value > 0) || Object.values(perTool).some((text) => typeof text !== "string" || readRate(text)?.limit !== 0);
}
