/**
 * queries.md: the build for people who review it in a pull request. For each tool what the model may pass, what is
 * always applied, who may call it, what leaves, and what its store is asked.
 */
import type { OutputPlan, ToolPlan } from "../../runtime/abi/plan.js";
import type { ToolDefinition } from "../../runtime/abi/params.js";
import type { GuardCertificate, Plans } from "../ir.js";
import { commentText, showUnseen } from "./helpers.js";

/** The native queries of one way to call a tool. */
export interface QueriesInput {
  readonly when: string;
  readonly queries: readonly { readonly title: string; readonly text: string }[];
  readonly refused: string | null;
}

/** By tool. */
export type Queries = ReadonlyMap<string, readonly QueriesInput[]>;

/** Text of a catalog in Markdown: nothing in it can end a line, open a link, start a list or heading, or be HTML. */
export function markdownText(text: string): string {
  return commentText(text).replace(/[\\`*_[\]<>|&~$]/g, (char) => `\\${char}`).replace(/^(?=[-+#=])/, "\\").replace(/^(\d+)(?=[.)])/, "$1\\");
}

/** A code span whose fence is longer than any in the text. */
export function markdownCode(text: string): string {
  const line = showUnseen(text.replace(/\s+/g, " "));
  const fence = "`".repeat(longestRun(line) + 1);
  return line.startsWith("`") || line.endsWith("`") ? `${fence} ${line} ${fence}` : `${fence}${line}${fence}`;
}

function longestRun(text: string): number {
  return Math.max(0, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
}

function block(text: string): string {
  const fence = "`".repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}\n${showUnseen(text.trimEnd())}\n${fence}`;
}

/** `base` leads from the folder of the file to the catalog's. */
export function queriesView(plans: Plans, certificates: readonly GuardCertificate[], queries: Queries, base: string) {
  const certified = new Map(certificates.map((certificate) => [certificate.tool, certificate]));
  const file = commentText(plans.catalog.file);
  // An absolute address says nothing in another checkout.
  const link = (line: number): string => (/^\.\.?\//.test(base) || !base.includes(":") ? `[${markdownText(file)}:${line}](<${base}${encodeURIComponent(plans.catalog.file)}#L${line}>)` : `${markdownText(file)}:${line}`);
  return {
    catalog: { file: file.replaceAll("--", "-\\-"), name: markdownText(file) },
    tools: plans.definitions.map((definition) => {
      const plan = plans.tools[definition.name] as ToolPlan;
      const certificate = certified.get(definition.name);
      return {
        name: markdownCode(definition.name),
        kind: plan.kind,
        origin: link(plans.origins[definition.name]?.line ?? 1),
        description: markdownText(definition.description),
        arguments: argumentLines(definition),
        guards: guardLines(plan, certificate),
        callers: callersText(certificate?.callers),
        output: "output" in plan ? outputLines(plan.output, plan) : [],
        calls: (queries.get(definition.name) ?? []).map(({ when, queries: asked, refused }) => ({
          when: when === "" ? null : markdownText(when),
          queries: asked.map(({ title, text }) => ({ title: markdownText(title), text: block(text) })),
          refused: refused === null ? null : markdownText(refused),
        })),
      };
    }),
  };
}

/** One line an argument, with every bound that its schema advertises. */
function argumentLines({ inputSchema }: ToolDefinition): readonly string[] {
  const { properties = {}, required = [] } = inputSchema as { readonly properties?: { readonly [name: string]: { readonly [key: string]: unknown } }; readonly required?: readonly string[] };
  return Object.entries(properties).map(([name, { type, items, description: _, ...bounds }]) => {
    const member = typeof items === "object" && items !== null ? (items as { readonly [key: string]: unknown }) : null;
    const { type: memberType, ...memberBounds } = member ?? {};
    const shown = { ...memberBounds, ...bounds };
    const parts = [
      member === null ? String(type) : `list of ${String(memberType)}`,
      required.includes(name) ? "required" : "optional",
      ...Object.entries(shown).map(([key, value]) => `${key} ${markdownCode(JSON.stringify(value))}`),
    ];
    return `${markdownCode(name)}: ${parts.join(", ")}`;
  });
}

function guardLines(plan: ToolPlan, certificate: GuardCertificate | undefined): readonly string[] {
  const { tenant } = plan.kind === "pipeline" ? plan.retrieve : plan;
  const guards = new Map<string, string[]>();
  for (const { branch, guards: shown } of certificate?.branches ?? []) for (const guard of shown) guards.set(guard, [...(guards.get(guard) ?? []), branch]);
  const all = certificate?.branches.length ?? 0;
  const lines = [...guards].map(([guard, branches]) => `${markdownCode(guard)}${branches.length === all ? "" : ` (${markdownText(branches.join(", "))})`}`);
  const tenants = tenant === undefined ? [] : [`${markdownCode(tenant.path)} is the caller's tenant, from the ${tenant.from} ${markdownCode(tenant.name)}`];
  return [...lines, ...tenants, ...accessLines(certificate?.branches ?? [])];
}

/** Document access is the same in every branch that is certified. */
function accessLines(branches: GuardCertificate["branches"]): readonly string[] {
  const [access] = branches.flatMap((branch) => branch.access ?? []);
  if (access === undefined) return [];
  const [only] = access.rules;
  const which = access.rules.length === 1 && only !== undefined ? markdownCode(only) : `${access.combine} of ${access.rules.map(markdownCode).join(", ")}`;
  return [`only documents that the caller's claims meet: ${which}`];
}

function callersText(roles: readonly string[] | undefined): string {
  if (roles === undefined) return "everyone who reaches the server";
  return roles.length === 0 ? "no role" : roles.map(markdownCode).join(", ");
}

function outputLines({ fields, redact = [], max_field_length: length, id }: OutputPlan, plan: ToolPlan): readonly string[] {
  const rows = "limit" in plan ? plan.limit.max : "rows" in plan ? plan.rows : null;
  return [
    `${rows === null ? "rows" : `at most ${rows} ${rows === 1 ? "row" : "rows"}`} with ${fields === undefined ? "every stored field" : fields.map(markdownCode).join(", ")}${id ? " and the record id" : ""}`,
    ...redact.map(({ path, mode, patterns }) => `${markdownCode(path)} redacted: ${mode}${patterns === undefined ? "" : ` ${patterns.map(({ regex }) => markdownCode(regex)).join(", ")}`}`),
    ...(length === undefined ? [] : [`texts cut at ${length} characters`]),
    ...recallLines(plan),
  ];
}

function recallLines(plan: ToolPlan): readonly string[] {
  const read = plan.kind === "pipeline" ? plan.retrieve : plan;
  const recall = "query" in read ? read.query?.min_recall : undefined;
  return recall === undefined ? [] : [`a search finds at least ${recall} of the right rows, as the certificate of \`toolsrv recall\` shows`];
}
