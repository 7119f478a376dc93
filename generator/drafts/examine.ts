/**
 * A proposal against a catalog: what is wrong with it, what an approver should know, and the catalog with it. define_tool
 * and approve both ask here, so that what is accepted as a draft is judged as it will be when it is approved. Pure.
 */
import { formatMessage, type Code, type CodeArgs } from "../../runtime/abi/codes.js";
import { isRecord } from "../../runtime/base/paths.js";
import { compile, type Compilation, type Compiled, type CompileOptions } from "../compile.js";
import { formatPath } from "../diagnostics.js";
import type { Change } from "../diff/change.js";
import { compareSurfaces } from "../diff/compare.js";
import { surfaceOf } from "../diff/surface.js";
import type { Diagnostic, GuardCertificate, SourceFile } from "../ir.js";
import { readStockYaml } from "../proof/stock-yaml.js";
import { appendTool, Uneditable, type Appended } from "./append.js";
import { changesBeyond } from "./beyond.js";
import { isNewPlace, overreachOf, retypedGuards, targetOf, withGuardrails } from "./guardrails.js";
import { DRAFT_KINDS, hasErrors, PLACEHOLDER, withoutNulls, type Issue, type JsonMap } from "./record.js";
import { redactedInputs } from "./redacted.js";
import { hiddenIn, odditiesIn, unusable } from "./untrusted.js";

/** A catalog that drafts are examined against; made once, used for many. */
export interface Base {
  readonly source: SourceFile;
  readonly options: CompileOptions;
  readonly compiled: Compiled;
  readonly diagnostics: readonly Diagnostic[];
  /** The catalog as the stock YAML library reads it. */
  readonly stock: JsonMap;
  /** Tools of the other catalogs of the same server, each with its catalog. */
  readonly elsewhere?: ReadonlyMap<string, string>;
}

/** The base of a catalog, or its diagnostics when it has errors of its own. */
export function baseOf(source: SourceFile, options: CompileOptions): { readonly base: Base | null; readonly compilation: Compilation } {
  const compilation = compile(source, options);
  return { base: compilation.value === null ? null : compiledBase(source, options, compilation.value, compilation.diagnostics), compilation };
}

/** The base of a catalog that was compiled already. */
export function compiledBase(source: SourceFile, options: CompileOptions, compiled: Compiled, diagnostics: readonly Diagnostic[]): Base {
  return { source, options, compiled, diagnostics, stock: readStockYaml(source.text) as JsonMap };
}

export interface Examination {
  readonly issues: readonly Issue[];
  /** The tool as it would be added, with the guardrails of its connection; the placeholder where the proposal is no tool. */
  readonly tool: JsonMap;
  /** The catalog with the tool; null when there is an error. */
  readonly result: ExaminedCatalog | null;
}

export interface ExaminedCatalog extends Appended {
  /** What `toolsrv diff` says of the change. */
  readonly changes: readonly Change[];
  readonly certificate: GuardCertificate;
}

/** Examines a proposal. Never throws for what a proposal holds. */
export function examine(base: Base, proposal: unknown): Examination {
  const unfit = unusable(proposal) ?? (isRecord(proposal) ? null : "a draft is an object");
  if (unfit !== null) return { issues: [issueOf("TS0607", { detail: unfit }, null, null)], tool: PLACEHOLDER, result: null };
  const given = withoutNulls(proposal) as JsonMap;
  const name = typeof given["name"] === "string" ? given["name"] : null;
  const other = name === null ? undefined : base.elsewhere?.get(name);
  const issues = [...(other === undefined || name === null ? [] : [issueOf("TS0220", { name, other }, name, "name")]), ...textIssues(given, name, base.stock)];
  if (issues.some(({ code }) => code === "TS0601")) return { issues, tool: PLACEHOLDER, result: null };
  const tool = withGuardrails(given, base.stock);
  const added = addTo(base, tool, name);
  const all = [...issues, ...added.issues];
  return { issues: all, tool: added.isTool ? tool : PLACEHOLDER, result: hasErrors(all) ? null : added.result };
}

/** An issue of a draft from the code table. */
export function issueOf<C extends Code>(code: C, args: CodeArgs<C>, tool: string | null, path: string | null, severity: Issue["severity"] = "error"): Issue {
  return { severity, code, message: formatMessage(code, args), tool, path, line: null };
}

function textIssues(tool: JsonMap, name: string | null, catalog: JsonMap): readonly Issue[] {
  const kind = tool["kind"] ?? "search";
  const isKnown = typeof kind === "string" && DRAFT_KINDS.includes(kind);
  return [
    ...(isKnown ? [] : [issueOf("VB2017", { detail: `a draft only reads: its kind is one of ${DRAFT_KINDS.join(", ")}` }, name, "kind")]),
    ...hiddenIn(tool).map(({ path, what }) => issueOf("TS0601", { where: path, character: what }, name, path)),
    ...overreachOf(tool, catalog).map(({ code, path, what }) => issueOf(code, { where: path, what }, name, path)),
    ...redactedInputs(tool, catalog).map(({ path, field }) => issueOf("TS0604", { subject: "redaction", detail: `${path} uses '${field}', which a tool on this collection redacts` }, name, path)),
    ...retypedGuards(tool, catalog).map(([path, field]) => issueOf("TS0604", { subject: "guard", detail: `${path} changes how the connection's static filter on '${field}' compares` }, name, path)),
    ...(isNewPlace(tool, catalog) ? [issueOf("TS0606", { where: "target", what: "a collection that nothing in the catalog reads", excerpt: JSON.stringify(targetOf(tool)) }, name, "target", "warning")] : []),
    ...odditiesIn(tool).map(({ path, what, excerpt }) => issueOf("TS0606", { where: path, what, excerpt }, name, path, "warning")),
  ];
}

interface Added {
  readonly issues: readonly Issue[];
  /** Whether the proposal has the shape of a tool. */
  readonly isTool: boolean;
  readonly result: ExaminedCatalog | null;
}

function addTo(base: Base, tool: JsonMap, name: string | null): Added {
  let appended: Appended;
  try {
    appended = appendTool(base.source.text, tool, base.stock);
  } catch (error) {
    if (error instanceof Uneditable) return { issues: [issueOf("TS0608", { detail: error.message }, name, null)], isTool: true, result: null };
    throw error;
  }
  const after = compile({ path: base.source.path, text: appended.text }, base.options);
  const found = diagnosticIssues(base, after, name);
  const isTool = !after.diagnostics.some((diagnostic) => isStructural(base, diagnostic));
  if (after.value === null || name === null) return { issues: found, isTool, result: null };
  const changes = compareSurfaces(surfaceOf("", base.compiled.plans), surfaceOf("", after.value.plans));
  const beyond = changesBeyond(base, after.value, name, changes).map(({ code, args, path }) => issueOf(code, args, name, path));
  const certificate = after.value.certificates.find((one) => one.tool === name);
  if (certificate === undefined || certificate.branches.length === 0) return { issues: [...found, ...beyond, issueOf("TS0401", { branch: "plans", guard: `tool '${name}' reads what is written` }, name, null)], isTool, result: null };
  return { issues: [...found, ...beyond], isTool, result: { ...appended, changes, certificate } };
}

/** Structural problems of a draft have one code, as those who propose tools know it. */
const STRUCTURAL = "VB2001";

/** A key that is unknown, missing or of the wrong type. In a draft an unknown key is an error: what it was meant to do would not happen. */
function isStructural(base: Base, diagnostic: Diagnostic): boolean {
  return isInTool(base, diagnostic) && (/^TS01/.test(diagnostic.code) || diagnostic.code === "VB0001");
}

/** What the compiler says of the new tool, and what it did not say of the catalog before. */
function diagnosticIssues(base: Base, after: Compilation, name: string | null): readonly Issue[] {
  const known = new Set(base.diagnostics.map(keyOf));
  // A kind that is none has an issue of its own.
  const fresh = after.diagnostics.filter((diagnostic) => (isInTool(base, diagnostic) ? diagnostic.code !== "TS0103" || diagnostic.at?.path[2] !== "kind" : !known.has(keyOf(diagnostic))));
  return fresh.map((diagnostic): Issue => {
    const { severity, code, message, at } = diagnostic;
    const path = at === null ? "" : formatPath(isInTool(base, diagnostic) ? at.path.slice(2) : at.path).replaceAll(/\[(\d+)\]/g, ".$1");
    const structural = isStructural(base, diagnostic);
    return { severity: structural ? "error" : severity, code: structural ? STRUCTURAL : code, message, tool: name, path: path === "" ? null : path, line: null };
  });
}

function keyOf({ code, message, at }: Diagnostic): string {
  return `${code}\0${message}\0${at === null ? "" : formatPath(at.path)}`;
}

/** The tool is the last of the list. */
function isInTool({ stock }: Base, { at }: Diagnostic): boolean {
  const count = Array.isArray(stock["tools"]) ? stock["tools"].length : 0;
  return at?.path[0] === "tools" && at.path[1] === count;
}
