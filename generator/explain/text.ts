/** An explanation for people. */
import type { ReadCost } from "../../runtime/adapters/adapter.js";
import type { GuardCertificate } from "../ir.js";
import { nativeText, type PrintValue } from "./native-text.js";
import type { NativeQuery } from "./record.js";

/** Everything that `toolsrv explain` tells about a tool. */
export interface Explanation {
  readonly tool: string;
  readonly kind: string;
  /** `tools.yaml:14` */
  readonly origin: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: unknown;
  readonly plan: unknown;
  /** Who may call it; `null` for everyone, because the catalog checks no roles. */
  readonly callers: {
    readonly roles: readonly string[];
    /** By deny_tools, to everyone. */
    readonly denied: boolean;
    /** Claim that holds a caller's roles. */
    readonly claim: string;
    /** Role of callers without that claim. */
    readonly default_role: string;
  } | null;
  readonly guards: GuardCertificate["branches"];
  /** Where the tenant comes from; `null` when the request names none. */
  readonly tenant: { readonly from: "claim" | "header"; readonly name: string; readonly path: string } | null;
  /** The arguments were made up, because none were given. */
  readonly example: boolean;
  readonly calls: readonly ExplainedCall[];
}

/** One call of the tool. */
export interface ExplainedCall {
  /** As the validator returned them, defaults filled in. */
  readonly arguments: object;
  readonly native: readonly NativeQuery[];
  /** Why no store would be asked. */
  readonly refused: string | null;
  /** What each request costs in the store as it is, in order; absent where the stores were not asked. */
  readonly costs?: readonly ExplainedCost[];
}

/** The cost of one request, or why it is not known. */
export interface ExplainedCost {
  readonly connection: string;
  readonly cost: ReadCost | null;
  readonly problem: string | null;
}

const indent = (text: string): string => text.replace(/^(?=.)/gm, "  ");

function section(title: string, body: string): string {
  return `${title}\n${indent(body)}`;
}

function guardLines(branches: Explanation["guards"], tenant: Explanation["tenant"]): string {
  const source = tenant === null ? "" : `, ${tenant.path} from ${tenant.from} '${tenant.name}'`;
  if (branches.length === 0) return "no branch reaches a store\n";
  return branches.map(({ branch, guards, tenancy, access }) => {
    const shown = guards.length === 0 ? ["no static filter"] : guards.map((guard) => `always ${guard}`);
    const documents = access === undefined ? [] : [`only documents where ${access.rules.join(access.combine === "all" ? " and " : " or ")}`];
    return `${branch}: ${[...shown, ...documents, ...(tenancy === "none" ? [] : [`the caller's tenant by ${tenancy}${source}`])].join(", ")}\n`;
  }).join("");
}

function callerLines(callers: Explanation["callers"]): string {
  if (callers === null) return "everyone who reaches the server: the catalog checks no roles\n";
  const { roles, denied, claim, default_role: fallback } = callers;
  if (denied) return "nobody: it is among deny_tools, which wins over every allow\n";
  const named = roles.length === 0 ? "no role may call it\n" : roles.map((role) => `role ${role}\n`).join("");
  const others = roles.includes(fallback) ? `so may callers without the claim '${claim}', who count as ${fallback}` : `callers without the claim '${claim}' count as ${fallback} and may not`;
  return `${named}${others}\n`;
}

/** Values that stand for those of a caller match no row, so nothing is said of how many rows pass. */
function costLine({ connection, cost, problem }: ExplainedCost, isSomebodys: boolean): string {
  if (cost === null) return `on connection ${connection}: ${problem ?? "the store does not say"}\n`;
  const rows = (n: number): string => n.toLocaleString("en-US");
  const examined = cost.index === null ? `no index: all ${rows(cost.rows)} rows are compared` : `index ${cost.index}: ${cost.examined === null ? "how many" : `about ${rows(cost.examined)}`} of ${rows(cost.rows)} rows are compared${cost.examined === null ? " depends on the values" : ""}`;
  const passing = isSomebodys ? "how many pass depends on the caller" : `${rows(cost.matching)} pass`;
  return `on connection ${connection}: ${examined}, ${passing}\n${indent(`${cost.plan.join("\n")}\n`)}`;
}

/** The page that `toolsrv explain` prints. */
export function explainText(explanation: Explanation, print: PrintValue): string {
  const { tool, kind, origin, description, inputSchema, plan, callers, guards, tenant, example, calls } = explanation;
  const queries = calls.map((call) => {
    const given = `${JSON.stringify(call.arguments)}${example ? " (made up; give your own with --args)" : ""}`;
    const native = call.native.map(({ connection, backend, request, query }) => `${request} on connection ${connection} (${backend})\n${indent(nativeText(query, print))}`);
    const isSomebodys = tenant !== null || guards.some(({ access }) => access !== undefined);
    const costs = call.costs === undefined || call.costs.length === 0 ? "" : section("Cost in the store as it is now", call.costs.map((cost) => costLine(cost, isSomebodys)).join(""));
    return section(`Native query for ${given}`, call.refused === null ? `${native.join("")}${costs}` : `none: ${call.refused}\n`);
  });
  return [
    `${tool} · ${kind} · ${origin}\n`,
    section("What the model sees", `${description.trim()}\n${print(inputSchema)}\n`),
    section("Plan", `${print(plan)}\n`),
    section("Who may call it", callerLines(callers)),
    section("Guard, as the checker showed it", guardLines(guards, tenant)),
    ...queries,
  ].join("\n");
}
