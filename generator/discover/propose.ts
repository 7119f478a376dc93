/**
 * Proposes one search tool a collection from its schema. Pure: what is proposed is data, a draft that a person reads
 * before it is served. Names and values of a store are text from outside: they are used only where they are plain.
 */
import type { Op } from "../../runtime/abi/filter.js";
import type { Capabilities } from "../../runtime/adapters/capabilities.js";
import { SAMPLE_ROWS, type SchemaCollection, type SchemaField } from "../schema/export.js";

/** Parameters of one draft. */
export const MAX_PARAMETERS = 8;
/** As the catalog's schema has it. */
const FIELD_PATH = /^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*){0,2}$/;
const MAX_PATH_LENGTH = 64;
const MAX_PARAMETER_NAME = 32;
const MAX_TOOL_NAME = 64;
const MAX_MEMBER_LENGTH = 64;
/** Whole paths that mostly name who a record belongs to. */
const TENANT = /^(tenant|tenant_id|org|org_id|organization_id|account_id|workspace_id|customer_id)$/i;
/** Operators for a type, the best first. */
const OPS: { readonly [D in SchemaField["dtype"]]: readonly Op[] } = {
  keyword: ["eq", "in"],
  integer: ["gte", "eq"],
  float: ["gte", "eq"],
  datetime: ["gte", "eq"],
  boolean: ["eq"],
  "keyword[]": ["in"],
  unknown: [],
};
const EXTENDED: ReadonlySet<Op> = new Set(["exists", "is_null", "contains_any", "contains_all", "like", "text_match"]);

export interface ProposedParameter {
  readonly name: string;
  readonly path: string;
  readonly dtype: SchemaField["dtype"];
  readonly op: Op;
  readonly required: false;
  readonly description: string;
  readonly enum?: readonly string[];
}

export interface ProposedTool {
  readonly name: string;
  readonly kind: "search";
  readonly description: string;
  readonly target: { readonly connection: string; readonly collection: string };
  /** Only where the store reads nothing without a text. */
  readonly query?: { readonly param: "query"; readonly required: true };
  readonly parameters: readonly ProposedParameter[];
}

/** Paths that look as if they named a tenant, in the order of the fields. */
export function tenantCandidates({ fields }: SchemaCollection): readonly string[] {
  return fields.map(({ path }) => path).filter((path) => TENANT.test(path));
}

/**
 * The tool for a collection.
 * @param taken names that exist already; the proposal has another one
 * @param hidden paths that take no argument: those of guards, tenancy and document access
 */
export function proposeTool(connection: string, collection: SchemaCollection, can: Capabilities, taken: ReadonlySet<string>, hidden: ReadonlySet<string>): ProposedTool {
  // Values of several tenants would be in the schema that every caller reads.
  const showsValues = tenantCandidates(collection).length === 0;
  const names = new Set<string>(["query", "limit"]);
  const parameters: ProposedParameter[] = [];
  for (const field of collection.fields) {
    if (parameters.length === MAX_PARAMETERS) break;
    const op = isProposable(field, can, hidden) ? OPS[field.dtype].find((one) => !EXTENDED.has(one) || can.extendedOps.some((own) => own === one)) : undefined;
    const name = op === undefined ? null : parameterName(field.path, names);
    if (op === undefined || name === null) continue;
    names.add(name);
    parameters.push(parameterOf(name, field, op, showsValues && collection.sampled_n < SAMPLE_ROWS));
  }
  const shown = parameters.map(({ path }) => path);
  return {
    name: toolName(collection.name, taken),
    kind: "search",
    description: `Search the records of the collection ${plain(collection.name)}${shown.length === 0 ? "" : ` by ${shown.join(", ")}`}. Use when the user asks for records of ${plain(collection.name)} with these values.`.slice(0, 1024),
    target: { connection, collection: collection.name },
    ...(can.scroll ? {} : { query: { param: "query", required: true } }),
    parameters,
  };
}

function isProposable({ path, indexed }: SchemaField, can: Capabilities, hidden: ReadonlySet<string>): boolean {
  if (!FIELD_PATH.test(path) || path.length > MAX_PATH_LENGTH || path.split(".").some((segment) => segment.startsWith("_"))) return false;
  if (TENANT.test(path) || hidden.has(path) || path === "id") return false;
  return (can.nestedPaths || !path.includes(".")) && (indexed || !can.requiresExplicitIndex);
}

function parameterOf(name: string, { path, dtype, enum: members }: SchemaField, op: Op, isWhole: boolean): ProposedParameter {
  // Members that a sample has not seen could never be asked for.
  const usable = isWhole && (op === "eq" || op === "in") && members !== null && members.length > 0 && members.every((member) => plain(member) === member && member.length <= MAX_MEMBER_LENGTH);
  const compare = op === "gte" ? `Lowest value of ${path}.` : op === "in" ? `Any of these values of ${path}.` : `Exact value of ${path}.`;
  return { name, path, dtype, op, required: false, description: compare, ...(usable ? { enum: members } : {}) };
}

/** Null when nothing of the path is left, or every name is taken. */
function parameterName(path: string, taken: ReadonlySet<string>): string | null {
  const name = path.toLowerCase().replace(/[^a-z0-9]/g, "_").replace(/^_+/, "").slice(0, MAX_PARAMETER_NAME);
  if (!/^[a-z]/.test(name)) return null;
  return firstFree(name === "constructor" ? "constructor_value" : name, taken, MAX_PARAMETER_NAME);
}

function toolName(collection: string, taken: ReadonlySet<string>): string {
  const name = `search_${collection.replace(/[^a-zA-Z0-9_]/g, "_").toLowerCase()}`.slice(0, MAX_TOOL_NAME);
  return firstFree(name, taken, MAX_TOOL_NAME);
}

function firstFree(name: string, taken: ReadonlySet<string>, most: number): string {
  let free = name;
  for (let n = 2; taken.has(free); n += 1) free = `${name.slice(0, most - String(n).length - 1)}_${n}`;
  return free;
}

/** Letters, digits, spaces and ordinary punctuation of one line; anything else becomes a question mark. */
function plain(text: string): string {
  return text.replace(/[^\p{L}\p{N}\p{M} _.,:;/&()'+@#%-]/gu, "?").slice(0, 120);
}
