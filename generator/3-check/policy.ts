/**
 * Policies in Rego: what `opa` is given, and what its answer means. Running it is the command's business.
 * The input is the catalog as written with defaults filled in, references unfilled: no secret reaches a policy.
 */
import type { Json } from "../../runtime/abi/plan.js";
import type { Reporter } from "../diagnostics.js";
import type { Path, Resolved, ResolvedStaticFilters, ResolvedTool } from "../ir.js";

/** Arguments of `opa`; the input comes on stdin. */
export function policyArguments(file: string): readonly string[] {
  return ["eval", "-f", "json", "--stdin-input", "-d", file, "data"];
}

/** Milliseconds a policy may take. */
export const POLICY_TIMEOUT_MS = 15_000;

/** The text for stdin: `{"tds": …}`. */
export function policyInput(catalog: Resolved): string {
  const { tools: _, ...written } = catalog.parsed.value;
  return JSON.stringify({ tds: { ...written, tds_version: catalog.tdsVersion, tools: catalog.tools.map(toolOf) } });
}

function toolOf(tool: ResolvedTool): Json {
  const { output } = tool;
  return {
    name: tool.name,
    description: tool.description,
    kind: tool.kind,
    builtin: tool.origin !== "user",
    target: tool.target === null ? null : { connection: tool.target.connection, collection: typeof tool.target.collection === "string" ? tool.target.collection : null },
    query: tool.query === null ? null : { param: tool.query.param, required: tool.query.required, mode: tool.query.mode, min_score: tool.query.minScore },
    parameters: tool.parameters.map(({ name, path, dtype, op, required }) => ({ name, path, dtype, op, required })),
    static_filters: filtersOf(tool.staticFilters),
    output: {
      fields: output.fields, limit_default: output.limitDefault, limit_max: output.limitMax, include_id: output.includeId, include_score: output.includeScore,
      max_field_length: output.maxFieldLength, redact: output.redact.map(({ path, mode }) => ({ path, mode })),
    },
    rerank: { enabled: tool.rerank !== null },
    steps: tool.steps.map(({ kind }) => kind),
  };
}

function filtersOf({ must, mustNot }: ResolvedStaticFilters): Json {
  const plain = (conditions: ResolvedStaticFilters["must"]): Json => conditions.map(({ path, op, value }) => ({ path, op, value: value as Json }));
  return { must: plain(must), must_not: plain(mustNot) };
}

/** What a run of `opa` came to. */
export interface PolicyRun {
  /** Null when the program could not be started or was stopped. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Reports each `deny` of the answer (POL001), or that there is no answer (POL000). */
export function reportPolicy(run: PolicyRun, reporter: Reporter): void {
  if (run.code !== 0) {
    const detail = run.code === null ? "opa is not installed, or did not finish in time" : `opa ended with code ${run.code}: ${errorOf(run)}`;
    reporter.report("POL000", { detail }, null);
    return;
  }
  const answer = parseJson(run.stdout);
  if (answer === undefined) {
    reporter.report("POL000", { detail: "opa gave no JSON" }, null);
    return;
  }
  for (const denial of denialsOf(answer)) {
    const { message, tool, path } = readDenial(denial);
    reporter.report("POL001", { detail: message }, path === null ? null : { path }, { tool });
  }
}

/** What opa says is wrong: the first of the errors that it gives as JSON, else the first line of its text. */
function errorOf({ stdout, stderr }: PolicyRun): string {
  const answer = parseJson(stdout) as { readonly errors?: readonly unknown[] } | null | undefined;
  const errors = Array.isArray(answer?.errors) ? answer.errors : [];
  const [first] = errors as readonly ({ readonly message?: unknown; readonly location?: { readonly file?: unknown; readonly row?: unknown } } | null)[];
  if (typeof first?.message !== "string") return (stderr.split("\n").find((line) => line.trim() !== "") ?? stdout.split("\n", 1)[0] ?? "").trim();
  const { file, row } = first.location ?? {};
  const place = typeof file === "string" && file !== "" ? `${file.split(/[\\/]/).at(-1) ?? file}:${String(row)}: ` : "";
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : "";
  return `${place}${first.message.split("\n", 1)[0]?.replace(/:$/, "") ?? ""}${more}`;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Members of every `deny` anywhere in the answer: a list, a set as an object's keys, or one text. */
function denialsOf(answer: unknown): readonly unknown[] {
  if (typeof answer !== "object" || answer === null) return [];
  if (Array.isArray(answer)) return answer.flatMap(denialsOf);
  return Object.entries(answer).flatMap(([key, value]): readonly unknown[] => {
    if (key !== "deny") return denialsOf(value);
    if (Array.isArray(value)) return value;
    return typeof value === "string" ? [value] : typeof value === "object" && value !== null ? Object.keys(value) : [];
  });
}

/** A denial is a text, or {msg, tool?, path?} with a path such as `tools[0].output`. */
function readDenial(denial: unknown): { readonly message: string; readonly tool: string | null; readonly path: Path | null } {
  if (typeof denial !== "object" || denial === null) return { message: String(denial), tool: null, path: null };
  const { msg, message, tool, path } = denial as { readonly [key: string]: unknown };
  const text = typeof msg === "string" ? msg : typeof message === "string" ? message : JSON.stringify(denial);
  return { message: text, tool: typeof tool === "string" ? tool : null, path: typeof path === "string" ? parsePath(path) : null };
}

function parsePath(text: string): Path {
  return [...text.matchAll(/[^.[\]]+/g)].map(([key]) => (/^\d+$/.test(key) ? Number(key) : key));
}
