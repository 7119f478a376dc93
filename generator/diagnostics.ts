/**
 * Diagnostics: how phases report what is wrong with the user's files, and how a path becomes line:column.
 * Phases collect with `createReporter`; nothing here prints, reads files, or knows a phase. Positions stay paths until
 * `locate`, because a path survives edits of the pipeline and a printed line does not.
 */
import { isAlias, isMap, isScalar, isSeq, visit, type Alias, type Document, type Node, type Pair, type YAMLMap } from "yaml";
import { CODES, fillHoles, type Code, type CodeArgs, type CodeEntry, type CodeSeverity, type Severity } from "../runtime/abi/codes.js";
import type { At, Diagnostic, LocatedDiagnostic, Parsed, Path } from "./ir.js";

/** What a report may add; codes with two severities must choose one. */
export type ReportExtra<C extends Code> = {
  /** Tool the problem belongs to. */
  readonly tool?: string | null;
  /** Replaces the table's help for this place ("did you mean"). */
  readonly help?: string;
  /** Offset in the text, where there is no path or the path is ambiguous. */
  readonly offset?: number;
} & (HasChoice<C> extends true ? { readonly severity: CodeSeverity<C> } : { readonly severity?: never });

/** Whether the table leaves the severity to the report. */
type HasChoice<C extends Code> = (typeof CODES)[C]["severity"] extends readonly unknown[] ? true : false;

type ExtraArgs<C extends Code> = HasChoice<C> extends true ? [extra: ReportExtra<C>] : [extra?: ReportExtra<C>];

/** Collects the diagnostics of one file. */
export interface Reporter {
  readonly diagnostics: readonly Diagnostic[];
  /** Adds a diagnostic; `at` null blames the whole file. A wrong code or a missing hole does not compile. */
  report<C extends Code>(code: C, args: CodeArgs<C>, at: At | null, ...extra: ExtraArgs<C>): void;
  /** Adds diagnostics of another pass. */
  addAll(diagnostics: readonly Diagnostic[]): void;
}

/** Diagnostics kept of one code: a file that is wrong everywhere need not say so a hundred thousand times. */
const MAX_PER_CODE = 1_000;

/** A reporter for the file shown as `file`. Of one code the first thousand are kept, and a note says that there are more. */
export function createReporter(file: string): Reporter {
  const diagnostics: Diagnostic[] = [];
  const counts = new Map<Code, number>();
  const isKept = (code: Code, at: At | null): boolean => {
    const count = (counts.get(code) ?? 0) + 1;
    counts.set(code, count);
    if (count === MAX_PER_CODE + 1) {
      const { severity, message, help } = CODES.TS0012;
      diagnostics.push({ severity, code: "TS0012", message: fillHoles(message, { code }), help, tool: null, file, at });
    }
    return count <= MAX_PER_CODE;
  };
  return {
    diagnostics,
    report(code, args, at, ...[extra]) {
      if (!isKept(code, at)) return;
      const entry: CodeEntry = CODES[code];
      const severity: Severity = typeof entry.severity === "string" ? entry.severity : (extra?.severity as Severity | undefined) ?? entry.severity[0];
      const help = extra?.help ?? (entry.help === undefined ? null : fillHoles(entry.help, { file, ...args }));
      diagnostics.push({
        severity, code, message: fillHoles(entry.message, args), help, tool: extra?.tool ?? null, file, at,
        ...(extra?.offset === undefined ? {} : { offset: extra.offset }),
      });
    },
    addAll: (more) => void diagnostics.push(...more),
  };
}

/** Names the tool of diagnostics that lie inside one and do not say so. `tools` is the catalog's list as written. */
export function nameTools(diagnostics: readonly Diagnostic[], tools: unknown): readonly Diagnostic[] {
  if (!Array.isArray(tools)) return diagnostics;
  return diagnostics.map((diagnostic) => {
    const [section, index] = diagnostic.at?.path ?? [];
    if (diagnostic.tool !== null || section !== "tools" || typeof index !== "number") return diagnostic;
    const tool: unknown = tools[index];
    const name: unknown = typeof tool === "object" && tool !== null && "name" in tool ? tool.name : null;
    return typeof name === "string" ? { ...diagnostic, tool: name } : diagnostic;
  });
}

/** The diagnostics without repetitions. */
export function distinct(diagnostics: readonly Diagnostic[]): readonly Diagnostic[] {
  const seen = new Set<string>();
  return diagnostics.filter((diagnostic) => {
    const key = `${diagnostic.code}\0${diagnostic.message}\0${diagnostic.tool ?? ""}\0${diagnostic.at === null ? "" : formatPath(diagnostic.at.path)}`;
    return !seen.has(key) && seen.add(key) !== null;
  });
}

/** Whether any diagnostic refuses the catalog. */
export function hasErrors(diagnostics: readonly Diagnostic[]): boolean {
  return diagnostics.some((diagnostic) => diagnostic.severity === "error");
}

/** `tools[3].query.ef`; "" for the root. */
export function formatPath(path: Path): string {
  return path.map((key, index) => (typeof key === "number" ? `[${key}]` : index === 0 ? key : `.${key}`)).join("");
}

/** A line and column, both from 1; columns count UTF-16 units as editors do. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

/** What `locate` needs of a parsed file. */
export type Locatable = Pick<Parsed, "doc" | "lines">;

/** Position of a path; for a missing key that of the nearest ancestor that exists. Null only for an empty document. */
export function locate(source: Locatable, at: At): Position | null {
  return createLocator(source)(at);
}

/** `locate` for many paths of one file: each mapping is gone through once, and so is the document for its aliases. */
export function createLocator(source: Locatable): (at: At) => Position | null {
  const indexes: Indexes = { maps: new Map(), targetOf: createAliasResolver(source.doc) };
  return (at) => {
    const offset = offsetOf(source.doc, at, indexes);
    return offset === null ? null : position(source.lines, offset);
  };
}

function position(lines: Parsed["lines"], offset: number): Position {
  const { line, col } = lines.linePos(offset);
  return { line: Math.max(line, 1), column: Math.max(col, 1) };
}

function offsetOf(doc: Document, at: At, indexes: Indexes): number | null {
  let node: unknown = doc.contents;
  let offset = startOf(node);
  for (const [index, key] of at.path.entries()) {
    const holder = isAlias(node) ? indexes.targetOf(node) : node;
    const last = index === at.path.length - 1;
    if (isSeq(holder) && typeof key === "number" && key < holder.items.length) {
      node = holder.items[key];
      offset = startOf(node) ?? offset;
      continue;
    }
    const pair = isMap(holder) ? findPair(holder, String(key), indexes) : null;
    if (pair === null) return offset;
    const onKey = startOf(pair.key) ?? offset;
    node = pair.value;
    const empty = node === null || (isScalar(node) && node.source === "" && node.type === "PLAIN");
    offset = (last && at.on === "key") || empty ? onKey : startOf(node) ?? onKey;
    // An intermediate key that is later missing blames its own name, not the first child below it.
    if (!last) offset = onKey;
  }
  return offset;
}

function startOf(node: unknown): number | null {
  const range = (node as { readonly range?: readonly number[] | null } | null | undefined)?.range;
  return range?.[0] ?? null;
}

/** The pairs of a mapping that decide: of several with one key the last written; and what its last `<<` refers to. */
interface PairIndex {
  readonly pairs: ReadonlyMap<string, Pair>;
  readonly merge: unknown;
}

interface Indexes {
  readonly maps: Map<YAMLMap, PairIndex>;
  readonly targetOf: (alias: Alias) => Node | undefined;
}

/** What each alias stands for. The library's `resolve` goes through the whole document for one alias. */
function createAliasResolver(doc: Document): Indexes["targetOf"] {
  let targets: Map<Alias, Node | undefined> | null = null;
  const readAll = (): Map<Alias, Node | undefined> => {
    const [found, anchors] = [new Map<Alias, Node | undefined>(), new Map<string, Node>()];
    visit(doc, {
      Node(_, node) {
        if (isAlias(node)) found.set(node, anchors.get(node.source));
        else if (node.anchor !== undefined) anchors.set(node.anchor, node);
      },
    });
    return found;
  };
  return (alias) => (targets ??= readAll()).get(alias);
}

function indexOf(map: YAMLMap, indexes: Indexes): PairIndex {
  const known = indexes.maps.get(map);
  if (known !== undefined) return known;
  const pairs = new Map<string, Pair>();
  let merge: unknown;
  for (const pair of map.items) {
    if (!isScalar(pair.key)) continue;
    pairs.set(scalarText(pair.key), pair);
    if (pair.key.source === "<<") merge = pair.value;
  }
  const index = { pairs, merge };
  indexes.maps.set(map, index);
  return index;
}

/** The pair that decides `key`: the last written one, else one from a merge key. */
function findPair(map: YAMLMap, key: string, indexes: Indexes, depth = 0): Pair | null {
  const { pairs, merge } = indexOf(map, indexes);
  const own = pairs.get(key);
  if (own !== undefined) return own;
  if (merge === undefined || depth > 20) return null;
  const sources = isSeq(merge) ? merge.items : [merge];
  for (const source of sources) {
    const target = isAlias(source) ? indexes.targetOf(source) : source;
    const pair = isMap(target) ? findPair(target, key, indexes, depth + 1) : null;
    if (pair !== null) return pair;
  }
  return null;
}

function scalarText(key: { readonly value: unknown; readonly source?: string }): string {
  return typeof key.value === "string" ? key.value : key.source ?? String(key.value);
}

/** A catalog to print positions of: the parsed file, or null when nothing could be parsed. */
export type Located = { readonly source: Locatable | null };

/** Diagnostics with positions, sorted by file, line and column; reports of the same place keep their order. */
export function locateAll(diagnostics: readonly Diagnostic[], source: Locatable | null): readonly LocatedDiagnostic[] {
  const locator = source === null ? () => null : createLocator(source);
  const located = diagnostics.map((diagnostic) => locateOne(diagnostic, source, locator));
  return located.sort((a, b) => compareText(a.file, b.file) || (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}

function locateOne(diagnostic: Diagnostic, source: Locatable | null, locator: (at: At) => Position | null): LocatedDiagnostic {
  const { severity, code, message, tool, at, file, help, offset } = diagnostic;
  const where = source === null ? null : offset !== undefined ? position(source.lines, offset) : at === null ? null : locator(at);
  return {
    severity, code, message: shorten(message), tool: tool === null ? null : shorten(tool), path: at === null ? null : shorten(formatPath(at.path)),
    line: where?.line ?? null, column: where?.column ?? null, file, help: help === null ? null : shorten(help),
  };
}

/** Longest part of a diagnostic. A name or a key may be as long as the whole file, and nobody reads that. */
const MAX_PART = 1_000;

function shorten(text: string): string {
  return text.length <= MAX_PART ? text : `${text.slice(0, MAX_PART - 1)}…`;
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** A value as a message shows it: JSON for scalars, a word for the rest, never longer than 60 characters. */
export function show(value: unknown): string {
  if (value === null || value === undefined) return "nothing";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "a mapping";
  const text = typeof value === "string" ? `'${value}'` : String(value);
  return text.length > 60 ? `${text.slice(0, 57)}…${typeof value === "string" ? "'" : ""}` : text;
}
