/** What templates print, prepared: names, literals, comments, one view a file. Templates only lay it out. */
import { certificateIds } from "../../runtime/abi/certificates.js";
import { ABI, type ReadPlan, type ToolPlan } from "../../runtime/abi/plan.js";
import type { ParamSpec, ToolDefinition } from "../../runtime/abi/params.js";
import { membersOf } from "../../runtime/abi/params.js";
import { unreachable } from "../bug.js";
import type { GuardCertificate, Plans } from "../ir.js";
import { commentText, identifiers, isPlainKey, jsKey, jsString } from "./helpers.js";
import { literal, member, WIDTH, type Comments } from "./literal.js";

/** What is the same in every file. */
export interface HeaderView {
  readonly catalog: { readonly file: string; readonly line: string };
}

export interface ToolView extends HeaderView {
  readonly identifier: string;
  /** The tool's name as an object key. */
  readonly key: string;
  /** `name` or `"name": identifier`, for tables of tools. */
  readonly entry: string;
  /** `tools.yaml:14` */
  readonly origin: string;
  /** First sentence of the description. */
  readonly summary: string;
}

const READ_COMMENTS: readonly (readonly [key: string, comment: string])[] = [
  ["guard", "Always ANDed; the model can neither see nor change these."],
  ["tenant", "Always ANDed; the value comes from the caller's identity, never from the model."],
  ["document_acl", "Always ANDed: rows whose fields meet the caller's claims; a caller without the claims is refused."],
  ["route", "Fixed by address; nothing outside it can be reached."],
  ["bind", "ANDed when the argument is given."],
];

const PLAN_COMMENTS: Comments = new Map([
  ...READ_COMMENTS,
  ...READ_COMMENTS.map(([key, comment]) => [`retrieve.${key}`, comment] as const),
  ["retrieve.filter", "The step's own filter, ANDed as well; what waits for an absent argument drops out."],
  ["steps", "Run in this process, in this order, before anything is projected or redacted."],
  ["output.redact", "Done before a row leaves the process."],
]);

const SETTINGS_COMMENTS: Comments = new Map([
  ["security.rbac", "Decided before a call's arguments are looked at; deny_tools wins over every allow."],
]);

export function headerView({ catalog }: Plans): HeaderView {
  const version = catalog.version === undefined ? "" : `catalog ${commentText(catalog.version)} · `;
  const hash = catalog.hash.slice(0, "sha256:".length + 16);
  return { catalog: { file: commentText(catalog.file), line: `${version}${hash}… · abi ${ABI}` } };
}

/** The views of all tools, in catalog order; identifiers are unique across them. */
export function toolViews(plans: Plans): readonly ToolView[] {
  const names = Object.keys(plans.tools);
  const idents = identifiers(names);
  const header = headerView(plans);
  return names.map((name) => {
    const identifier = idents.get(name) ?? name;
    const key = jsKey(name);
    const origin = `${header.catalog.file}:${plans.origins[name]?.line ?? 1}`;
    const room = WIDTH - "/**  —  */".length - origin.length;
    return {
      ...header, identifier, key, origin,
      entry: key === identifier ? key : `${key}: ${identifier}`,
      summary: summaryOf(plans.inputs[name]?.description ?? name, room),
    };
  });
}

/** The first sentence, cut at a word where it is longer than `room` columns. */
export function summaryOf(description: string, room: number): string {
  const text = commentText(description);
  const sentence = /^.*?[.!?](?=\s|$)/u.exec(text)?.[0] ?? text;
  if (sentence.length <= room) return sentence;
  const cut = sentence.slice(0, room - 1);
  return `${cut.slice(0, cut.lastIndexOf(" ") > room / 2 ? cut.lastIndexOf(" ") : cut.length)}…`.replace(/[\uD800-\uDBFF]…$/, "…");
}

export function serverView(plans: Plans, base: string, traceRoutes: string | null, hasExplained: boolean) {
  const backends = [...new Set(Object.values(plans.connections).map(({ backend }) => backend))];
  const loads = backends.map((backend) => `${jsKey(backend)}: () => import(${jsString(`toolsrv/runtime/v1/adapters/${backend}`)})`);
  const flat = `{ ${loads.join(", ")} }`;
  return {
    ...headerView(plans),
    abi: String(ABI),
    hasCertificates: certificateIds(plans.settings, []) !== null,
    hasSkill: plans.settings.skill !== undefined,
    adapters: loads.length === 0 ? "{}" : flat.length < WIDTH - 16 ? flat : `{\n${loads.map((load) => `    ${load},\n`).join("")}  }`,
    base: jsString(base),
    traceRoutes: traceRoutes === null ? null : jsString(traceRoutes),
    hasExplained,
  };
}

/** One of several catalogs, and where its files are. */
export interface PlacedProject {
  readonly name: string;
  readonly folder: string;
  readonly plans: Plans;
}

export function projectsView(projects: readonly PlacedProject[]) {
  const file = projects.map(({ plans }) => commentText(plans.catalog.file)).join(", ");
  return {
    catalog: { file, line: `${projects.length} catalogs · abi ${ABI}` },
    projects: projects.map(({ name, folder }) => ({ name: jsString(name), folder, binding: `${folder}Program` })),
  };
}

export function plansView(plans: Plans, tools: readonly ToolView[], certificates: readonly GuardCertificate[]) {
  const table = (name: string, value: unknown, comments?: Comments): string => literal(value, 0, `export const ${name} = `.length + TABLE_TYPE_WIDTH, comments);
  const callers = new Map(certificates.map((certificate) => [certificate.tool, certificate.callers]));
  const ids = certificateIds(plans.settings, certificates);
  const planned = Object.values(plans.tools);
  return {
    ...headerView(plans),
    certificates: ids === null ? null : table("certificates", ids),
    catalogPlan: table("catalog", plans.catalog),
    settings: table("settings", plans.settings, SETTINGS_COMMENTS),
    connections: table("connections", plans.connections),
    embeddings: table("embeddings", plans.embeddings),
    tools: tools.map((tool, index) => ({
      ...tool,
      callers: callersText(callers.get(plans.definitions[index]?.name ?? "")),
      plan: members(planned[index] as ToolPlan, 4, PLAN_COMMENTS),
    })),
  };
}

/** Comment lines that name the roles which may call a tool; `null` where roles are not checked. */
function callersText(roles: readonly string[] | undefined): string | null {
  if (roles === undefined) return null;
  if (roles.length === 0) return "  // No role may call it.";
  const lines = ["  // May be called by"];
  for (const [index, role] of roles.entries()) {
    const word = ` ${commentText(role)}${index === roles.length - 1 ? "." : ","}`;
    if ((lines.at(-1) ?? "").length + word.length > WIDTH) lines.push("  //");
    lines[lines.length - 1] += word;
  }
  return lines.join("\n");
}

/** ` as const satisfies { readonly [name: string]: rt.ConnectionPlan };` */
const TABLE_TYPE_WIDTH = 66;

function members(value: object, indent: number, comments?: Comments): string {
  return Object.entries(value).map(([key, inside]) => member(key, inside, indent, comments)).join("").trimEnd();
}

export function toolsView(plans: Plans, tools: readonly ToolView[]) {
  return {
    ...headerView(plans),
    tools: plans.definitions.map((definition: ToolDefinition, index) => ({ ...tools[index], definition: members(definition, 4) })),
  };
}

export function schemasView(plans: Plans, tools: readonly ToolView[]) {
  const inputs = Object.values(plans.inputs);
  return {
    ...headerView(plans),
    tools: tools.map((tool, index) => ({ ...tool, arguments: argumentsText(inputs[index]?.params ?? []) })),
  };
}

/** The object that `z.object` is given. */
export function argumentsText(params: readonly ParamSpec[]): string {
  const lines = params.map((param) => {
    const start = `  ${jsKey(param.name)}: `;
    return `${start}${validatorText(param, start.length)},\n`;
  });
  return lines.length === 0 ? "{}" : `{\n${lines.join("")}}`;
}

/** The zod schema of one argument; says what `validatorOf` in runtime/abi makes, and a test holds them together. */
export function validatorText(param: ParamSpec, column: number): string {
  const optional = param.required === true ? "" : param.default === undefined ? ".optional()" : `.default(${literal(param.default, 2, column)})`;
  const items = param.maxItems === undefined ? "" : `.max(${param.maxItems})`;
  const [open, close] = param.list === true ? ["z.array(", `)${items}${optional}`] : ["", optional];
  const members = membersOf(param);
  if (members === null) return `${open}${scalarText(param)}${close}`;
  if (members.length === 0) return `${open}z.never()${close}`;
  const choice = param.type === "string" ? `${open}z.enum(` : `${open}z.literal(`;
  return `${choice}${literal(members, 2, column + choice.length + close.length + 1)})${close}`;
}

function scalarText(param: ParamSpec): string {
  switch (param.type) {
    case "string":
      return `z.string()${param.nonEmpty === true ? ".min(1)" : ""}${param.maxLength === undefined ? "" : `.max(${param.maxLength})`}`;
    case "boolean":
      return "z.boolean()";
    case "integer":
    case "number": {
      const minimum = param.list === true || param.minimum === undefined ? "" : `.min(${param.minimum})`;
      const maximum = param.list === true || param.maximum === undefined ? "" : `.max(${param.maximum})`;
      return `z.${param.type === "integer" ? "int" : "number"}()${minimum}${maximum}`;
    }
    default:
      return unreachable(param.type);
  }
}

export interface HandlerView extends ToolView {
  /** The signature, or the import of the handler's own file, does not fit on one line. */
  readonly long: boolean;
  readonly longImport: boolean;
  /** The plan table's entry, as an expression. */
  readonly plan: string;
  /** The handler's first parameter; one that it does not read is called so. */
  readonly args: "args" | "_args";
  /** Whether arguments are looked up in a directory first. */
  readonly resolves: boolean;
  /** What is bound, and the arguments it is bound with; `null` where nothing is. */
  readonly bound: string | null;
  /** What `bound` holds. */
  readonly bindComment: string;
  /** The call that reads the store, without the namespace. */
  readonly read: string;
}

/** What is bound, in its order. */
function boundOf({ document_acl: acl }: ReadPlan): string {
  return acl === undefined ? "guard ∧ tenant ∧ arguments" : "guard ∧ tenant ∧ document access ∧ arguments";
}

/** How each kind resolves, binds and reads; the same calls as `handlerOf` in runtime/call. */
function stepsOf(plan: ToolPlan): Pick<HandlerView, "args" | "resolves" | "bound" | "bindComment" | "read"> {
  if (plan.kind === "meta") return { args: "_args", resolves: false, bound: null, bindComment: "", read: "collections(plan, call)" };
  const read = plan.kind === "pipeline" ? plan.retrieve : plan;
  const resolves = read.bind.some(({ resolve }) => resolve !== undefined);
  const args = resolves ? "known" : "args";
  switch (plan.kind) {
    case "search":
    case "scroll":
    case "lookup":
    case "count":
      return { args: "args", resolves, bound: `plan, ${args}`, bindComment: boundOf(read), read: `${plan.kind}(bound, call)` };
    case "pipeline": {
      const bindComment = plan.retrieve.filter === undefined ? boundOf(read) : `${boundOf(read)} ∧ the step's filter`;
      return { args: "args", resolves, bound: `plan.retrieve, ${args}`, bindComment, read: `pipeline(plan, bound, ${args}, call)` };
    }
    default:
      return unreachable(plan);
  }
}

export function handlerViews(plans: Plans, tools: readonly ToolView[]): readonly HandlerView[] {
  const table = Object.entries(plans.tools);
  return tools.map((tool, index) => {
    const [name, plan] = table[index] as [string, ToolPlan];
    const signature = `export const ${tool.identifier}: rt.Handler<typeof schemas.${tool.identifier}> = async (args, call) => {`;
    const longImport = `import { ${tool.identifier} } from "./handlers/${tool.identifier}.js";`.length > WIDTH;
    return { ...tool, long: signature.length > WIDTH, longImport, plan: isPlainKey(name) ? `plans.${name}` : `plans[${jsString(name)}]`, ...stepsOf(plan) };
  });
}
