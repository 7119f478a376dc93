/**
 * The drafts file as text: reading it strictly, and changing one entry or appending one. The file is plain data: a tag, an
 * anchor or a merge key in it is refused, because it could make an entry mean something else than it shows. Comments
 * survive a change.
 */
import { isMap, isScalar, isSeq, LineCounter, parseDocument, visit, type Document, type YAMLMap } from "yaml";
import { isRecord } from "../../runtime/base/paths.js";
import { STOCK_OPTIONS } from "../proof/stock-yaml.js";
import { draftHash, DRAFTS_FILE, PLACEHOLDER, STATES, withoutNulls, type DraftRecord, type Issue, type JsonMap } from "./record.js";

/** Largest drafts file in bytes. */
const MAX_FILE_BYTES = 4_000_000;
const KEYS: readonly string[] = ["status", "created_at", "hash", "provenance", "tool", "issues", "catalog_version"];

/** A drafts file or a catalog that cannot be used as it is; the message says where and why. */
export class DraftsProblem extends Error {
  override readonly name = "DraftsProblem";
}

/** A drafts file that was read. */
export interface DraftsFile {
  readonly shown: string;
  readonly text: string;
  readonly records: readonly DraftRecord[];
}

/** Reads a drafts file; an empty one has no drafts. @throws DraftsProblem */
export function readDrafts(text: string, shown: string): DraftsFile {
  try {
    return readStrictly(text, shown);
  } catch (error) {
    if (error instanceof RangeError) throw new DraftsProblem(`${shown}: nested too deeply`);
    throw error;
  }
}

function readStrictly(text: string, shown: string): DraftsFile {
  const { doc, refuse } = parsed(text, shown);
  if (doc.contents === null || (isScalar(doc.contents) && doc.contents.value === null)) return { shown, text, records: [] };
  if (!isMap(doc.contents)) refuse(doc.contents, "a drafts file is a mapping with the list 'drafts'");
  const root = doc.contents as YAMLMap;
  for (const { key } of root.items) {
    const name = isScalar(key) ? String(key.value) : "a key";
    if (name === "version") refuse(key, "the file has a version, which this release of toolsrv does not know");
    if (name !== "drafts") refuse(key, `'${name}' is not a key of a drafts file; it has one list, 'drafts'`);
  }
  const list = root.get("drafts", true) as unknown;
  if (list === undefined || (isScalar(list) && list.value === null)) return { shown, text, records: [] };
  if (!isSeq(list)) return refuse(list, "'drafts' is not a list");
  return { shown, text, records: list.items.map((node) => readRecord(node, doc, refuse)) };
}

/** Deeper than any draft: the library would take minutes to find that out. Brackets in texts count too; no draft has so many. */
const MAX_OPEN = 500;

function isDeep(text: string): boolean {
  if (/^[ \t]*(?:[-?:][ \t]+){100}/m.test(text)) return true;
  // Each draft by itself: brackets in the texts of one must not make another one unreadable.
  return text.split(/^(?=[ \t]*-[ \t]+status:)/m).some(opensTooMany);
}

function opensTooMany(text: string): boolean {
  let open = 0;
  for (const bracket of text.match(/[[\]{}]/g) ?? []) {
    open += bracket === "[" || bracket === "{" ? 1 : -1;
    if (open > MAX_OPEN) return true;
    if (open < 0) open = 0;
  }
  return false;
}

type Refuse = (node: unknown, why: string) => never;

function parsed(text: string, shown: string): { readonly doc: Document; readonly refuse: Refuse } {
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_FILE_BYTES) throw new DraftsProblem(`${shown}: the file has ${bytes} bytes; the limit is ${MAX_FILE_BYTES}. Remove drafts that are approved, rejected or expired`);
  if (isDeep(text)) throw new DraftsProblem(`${shown}: nested too deeply`);
  const lineCounter = new LineCounter();
  const place = (offset: number): string => {
    const { line, col } = lineCounter.linePos(offset);
    return `${shown}:${Math.max(line, 1)}:${Math.max(col, 1)}`;
  };
  const refuse: Refuse = (node, why) => {
    const range = (node as { readonly range?: readonly number[] | null } | null)?.range;
    throw new DraftsProblem(`${place(range?.[0] ?? 0)}: ${why}`);
  };
  const doc = parseDocument(text, { ...STOCK_OPTIONS, merge: false, uniqueKeys: true, logLevel: "error", lineCounter });
  const [error] = doc.errors;
  if (error !== undefined) throw new DraftsProblem(`${place(error.pos[0])}: ${error.message.split(/ at line|\n/)[0] ?? ""}`);
  visit(doc, {
    Alias: (_, node) => refuse(node, "an alias (*); a drafts file has none"),
    Node(_, node) {
      if ("anchor" in node && node.anchor !== undefined) refuse(node, "an anchor (&); a drafts file has none");
      if (node.tag !== undefined) refuse(node, "a tag (!); a drafts file has none");
    },
    Pair(_, { key }) {
      if (!isScalar(key)) return;
      if (key.value === "<<" || key.value === "__proto__") refuse(key, `the key '${String(key.value)}'; a drafts file has none`);
    },
  });
  return { doc, refuse };
}

function readRecord(node: unknown, doc: Document, refuse: Refuse): DraftRecord {
  if (!isMap(node)) return refuse(node, "a draft is a mapping with 'status' and 'tool'");
  for (const { key } of node.items) if (!isScalar(key) || !KEYS.includes(String(key.value))) refuse(key, `a draft has no key '${isScalar(key) ? String(key.value) : "?"}'; it has ${KEYS.join(", ")}`);
  const value = node.toJS(doc) as JsonMap;
  const at = (key: string): unknown => node.get(key, true) ?? node;
  const text = (key: string, form: RegExp, what: string): string | null => {
    const found = value[key] ?? null;
    if (found !== null && (typeof found !== "string" || !form.test(found))) refuse(at(key), `'${key}' is not ${what}`);
    return found as string | null;
  };
  const status = STATES.find((state) => state === value["status"]);
  if (status === undefined) return refuse(at("status"), `'status' is one of ${STATES.join(", ")}`);
  const { provenance = null, tool, issues } = value;
  if (provenance !== null && !isRecord(provenance)) refuse(at("provenance"), "'provenance' is not a mapping");
  if (!isRecord(tool)) refuse(at("tool"), "'tool' is not a mapping");
  return {
    status,
    created_at: text("created_at", /^./, "a date in quotes"),
    hash: text("hash", /^[0-9a-f]{64}$/, "64 hex digits in quotes"),
    provenance: provenance as JsonMap | null,
    tool: withoutNulls(tool) as JsonMap,
    issues: issuesOf(issues, () => refuse(at("issues"), "'issues' is not a list of issues")),
    catalog_version: text("catalog_version", /^/, "a version in quotes"),
  };
}

function issuesOf(issues: unknown, refuse: () => never): readonly Issue[] {
  if (issues === undefined || issues === null) return [];
  if (!Array.isArray(issues)) return refuse();
  return (issues as readonly unknown[]).map((issue): Issue => {
    if (!isRecord(issue) || typeof issue["code"] !== "string" || typeof issue["message"] !== "string") return refuse();
    const { severity, code, message, tool, path } = issue;
    const known = severity === "warning" || severity === "info" ? severity : "error";
    return { severity: known, code, message, tool: typeof tool === "string" ? tool : null, path: typeof path === "string" ? path : null, line: null };
  });
}

/** How a changed file is written: one line a text, so that a draft cannot pretend to be several lines of the file. */
const PRINT = { lineWidth: 0, blockQuote: false } as const;

/** The file with one more draft. `file` null: there is none yet. @throws DraftsProblem */
export function withRecord(file: DraftsFile | null, record: DraftRecord): string {
  const records = file?.records ?? [];
  const doc = editable(records.length === 0 ? "drafts: []\n" : (file?.text ?? ""));
  const list = doc.get("drafts");
  if (isSeq(list)) {
    list.flow = false;
    list.add(doc.createNode(printable(record), { aliasDuplicateObjects: false }));
  }
  return checked(doc.toString(PRINT), [...records, record], file?.shown ?? DRAFTS_FILE);
}

/** Keys of a draft that change after it was made. */
export type DraftChange = Pick<DraftRecord, "status"> & Partial<Pick<DraftRecord, "provenance" | "catalog_version">>;

/** The file with some keys of one draft changed. @throws DraftsProblem */
export function withChange(file: DraftsFile, index: number, change: DraftChange): string {
  const doc = editable(file.text);
  for (const [key, value] of Object.entries(change)) doc.setIn(["drafts", index, key], doc.createNode(value, { aliasDuplicateObjects: false }));
  return checked(doc.toString(PRINT), file.records.map((record, at) => (at === index ? { ...record, ...change } : record)), file.shown);
}

/** With the library's own types, which it can print; `STOCK_OPTIONS` can only be read with. */
function editable(text: string): Document.Parsed {
  return parseDocument(text, { version: "1.1", merge: false, logLevel: "silent" });
}

/** Read back: a file that was edited by hand may hold a value that the library prints as another one. */
function checked(text: string, expected: readonly DraftRecord[], shown: string): string {
  if (draftHash(readDrafts(text, shown).records) !== draftHash(expected)) throw new DraftsProblem(`${shown} has a value that cannot be written back as it is; put dates and odd numbers into quotes`);
  return text;
}

/** The keys of a record that have a value. */
function printable(record: DraftRecord): JsonMap {
  return Object.fromEntries(KEYS.map((key) => [key, (record as unknown as JsonMap)[key]]).filter(([, value]) => value !== null));
}

/** The draft of this name that can be approved or rejected. @throws DraftsProblem that says why there is none. */
export function pendingOf({ records, shown }: DraftsFile, name: string): { readonly index: number; readonly record: DraftRecord } {
  const named = records.flatMap((record, index) => ((record.tool["name"] ?? PLACEHOLDER["name"]) === name ? [{ index, record }] : []));
  const pending = named.filter(({ record }) => record.status === "pending");
  const [first, second] = pending;
  if (second !== undefined) throw new DraftsProblem(`${shown} has ${pending.length} pending drafts named '${name}'; remove all but one`);
  if (first !== undefined) return first;
  const last = named.at(-1);
  if (last !== undefined) throw new DraftsProblem(`the draft '${name}' is ${last.record.status}, not pending`);
  throw new DraftsProblem(`${shown} has no draft '${name}'; toolsrv drafts list shows what it has`);
}
