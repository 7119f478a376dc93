/**
 * What this runtime can run. A program that asks for more is refused whole, before the first call: a plan may hold a
 * guard that another runtime would not understand, and nothing may run without it.
 */
import type { Program } from "../abi/call.js";
import { ToolError } from "../abi/errors.js";
import { ABI, EXPAND_PROVIDERS, RERANK_PROVIDERS, type ToolPlan } from "../abi/plan.js";

/** @throws ToolError tds_invalid that names the tool and what it needs. */
export function checkSupported(program: Program): void {
  if (program.abi !== ABI) {
    throw new ToolError("tds_invalid", `the program was built for ABI ${program.abi}, this toolsrv runs ABI ${ABI}; run 'toolsrv build' again`);
  }
  for (const [name, plan] of Object.entries(program.plans)) {
    const need = firstUnsupported(plan);
    if (need !== null) throw new ToolError("tds_invalid", `tool '${name}' needs ${need}, which this version of toolsrv cannot run`);
  }
}

function firstUnsupported(plan: ToolPlan): string | null {
  if (plan.kind === "meta") return null;
  const read = plan.kind === "pipeline" ? plan.retrieve : plan;
  const rerank = "rerank" in plan ? plan.rerank?.provider : undefined;
  if (rerank !== undefined && !RERANK_PROVIDERS.includes(rerank)) return `rerank by '${String(rerank)}'`;
  const expand = "query" in read ? read.query?.expand?.provider : undefined;
  return expand !== undefined && !EXPAND_PROVIDERS.includes(expand) ? `query.expand by '${String(expand)}'` : null;
}
