/**
 * What the trace service shows of every tool beside its calls: its lines, its guard in words and its queries, made by the
 * code of queries.md from plans without their fixed values. A trace is read by more people than the catalog.
 */
import type { ExplainedCall, ExplainedTool, ExplainedTools } from "../../runtime/abi/explained.js";
import { fingerprint } from "../../runtime/abi/fingerprint.js";
import type { Guard, ToolPlan } from "../../runtime/abi/plan.js";
import type { GuardCertificate, Plans, QueryProgram } from "../ir.js";
import { hidePlan, withoutDifferences } from "./hidden.js";
import { shownCalls, type ShownCall } from "./queries.js";

/** Makes the program of plans, by whose handlers the queries are made. */
export type MakeProgram = (plans: Plans) => QueryProgram;

const print = (value: unknown): string => JSON.stringify(value, null, 2);

const NOT_SHOWN = "not shown: its text depends on a value that the catalog fixes";

/** Every tool, in the order of the catalog; `printed` is left to what prints the plans. */
export async function explainedTools(plans: Plans, certificates: readonly GuardCertificate[], makeProgram: MakeProgram): Promise<ExplainedTools> {
  const hidden = new Map(Object.entries(plans.tools).map(([tool, plan]) => [tool, hidePlan(plan)]));
  const version = (pick: (tool: string, plan: ToolPlan) => ToolPlan): Plans => ({ ...plans, tools: Object.fromEntries(Object.entries(plans.tools).map(([tool, plan]) => [tool, pick(tool, plan)])) });
  const shown = version((tool, plan) => hidden.get(tool)?.plan ?? plan);
  const flipped = [...hidden.values()].some((plan) => plan !== null && plan.flipped !== null) ? version((tool, plan) => hidden.get(tool)?.flipped ?? hidden.get(tool)?.plan ?? plan) : null;
  const [calls, others] = await Promise.all([callsOf(shown, makeProgram), flipped === null ? null : callsOf(flipped, makeProgram)]);
  const certificateOf = new Map(certificates.map((certificate) => [certificate.tool, certificate]));
  return Object.fromEntries(Object.keys(plans.tools).map((tool): [string, ExplainedTool] => {
    const certificate = certificateOf.get(tool);
    const named = hidden.get(tool)?.named ?? ((text: string) => text);
    return [tool, {
      source: `${plans.catalog.file}:${plans.origins[tool]?.line ?? 1}`,
      guard: guardWords(shown.tools[tool] as ToolPlan, certificate),
      ...(certificate === undefined ? {} : { certificate: fingerprint(certificate) }),
      calls: (calls.get(tool) ?? []).map((call, index) => explainedCall(call, others?.get(tool)?.[index] ?? call, named)),
    }];
  }));
}

function callsOf(plans: Plans, makeProgram: MakeProgram): Promise<ReadonlyMap<string, readonly ShownCall[]>> {
  return shownCalls(makeProgram(plans), plans, print);
}

/** A query whose text depends on a value that must not be shown is left out, and so is a refusal, which may quote one. */
function explainedCall(call: ShownCall, other: ShownCall, named: (text: string) => string): ExplainedCall {
  return {
    when: call.when,
    queries: call.queries.map(({ title, text }, index) => ({ title, lines: named(withoutDifferences(text, other.queries[index]?.text ?? "") ?? NOT_SHOWN).trimEnd().split("\n") })),
  };
}

/** What every read of the tool is bound to. */
function guardWords(plan: ToolPlan, certificate: GuardCertificate | undefined): readonly string[] {
  const { guard, tenant, route } = plan.kind === "pipeline" ? plan.retrieve : plan;
  const access = certificate?.branches.find((branch) => branch.access !== undefined)?.access;
  return [
    ...(guard === undefined ? [] : "and" in guard ? guard.and.map(wordsOf) : [wordsOf(guard)]),
    ...(tenant === undefined ? [] : [`${tenant.path} is the caller's tenant, from the ${tenant.from} ${tenant.name}`]),
    ...(access === undefined ? [] : [`only documents where ${access.rules.join(access.combine === "all" ? " and " : " or ")}`]),
    ...Object.keys(route ?? {}).map((key) => `the ${key} of the connection`),
  ];
}

/** A condition as words, without its value. */
function wordsOf(guard: Guard): string {
  if ("and" in guard) return `(${guard.and.map(wordsOf).join(" and ")})`;
  if ("or" in guard) return `(${guard.or.map(wordsOf).join(" or ")})`;
  const { path, op, value } = guard;
  return `${path} ${op} ${op === "exists" || op === "is_null" ? String(value) : "…"}`;
}
