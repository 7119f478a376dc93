/**
 * A tool at the end of a catalog's list, as a text edit: every byte that is there stays, but for the version that counts
 * up. What was written is read back and compared, so a file whose syntax would give the new lines another meaning (an
 * anchored list that is used twice, a merge key) is refused rather than changed.
 */
import { isAlias, isMap, isScalar, isSeq, stringify, type YAMLMap, type YAMLSeq } from "yaml";
import { isRecord } from "../../runtime/base/paths.js";
import { applyEdits, insertAt, type TextEdit } from "../edit/text-edit.js";
import { editableYaml, entryOf, insertAfter, insertFirst, replaceScalar, type EditableYaml, type Entry } from "../edit/yaml-edit.js";
import { readStockYaml } from "../proof/stock-yaml.js";
import { nextVersion, type JsonMap } from "./record.js";

export interface Appended {
  readonly text: string;
  readonly version: { readonly before: string | null; readonly after: string };
}

/** The catalog cannot be changed by a text edit; the message says why. */
export class Uneditable extends Error {
  override readonly name = "Uneditable";
}

/**
 * The catalog with one more tool and its version counted up. The text must be a catalog that compiles; `before` is what the
 * stock YAML library reads in it.
 * @throws Uneditable
 */
export function appendTool(text: string, tool: JsonMap, before = readStockYaml(text) as JsonMap): Appended {
  const yaml = editableYaml(text);
  const root = yaml.doc.contents;
  if (!isMap(root)) throw new Uneditable("the catalog is not a mapping");
  const version = versionOf(before);
  const after = nextVersion(version);
  const changed = applyEdits(text, [...versionEdits(yaml, root, after), ...toolEdits(yaml, root, tool)]);
  checkMeaning(before, changed, tool, after);
  return { text: changed, version: { before: version, after } };
}

/** The version of a catalog; null where it has none. */
export function versionOf({ meta }: JsonMap): string | null {
  const version = isRecord(meta) ? meta["tool_catalog_version"] : null;
  return typeof version === "string" ? version : null;
}

function checkMeaning(before: JsonMap, text: string, tool: JsonMap, version: string): void {
  const meta = isRecord(before["meta"]) ? before["meta"] : {};
  const tools = Array.isArray(before["tools"]) ? (before["tools"] as readonly unknown[]) : [];
  const expected = { ...before, meta: { ...meta, tool_catalog_version: version }, tools: [...tools, tool] };
  let read: unknown;
  try {
    read = readStockYaml(text);
  } catch {
    throw new Uneditable("the catalog is written in a way that lines cannot be added to");
  }
  if (!isSame(read, expected)) throw new Uneditable("the new lines would be read as something else: the list of tools or meta is written with an alias, a merge key or a value that YAML cannot keep");
}

/** Equal as values; the order of keys makes no difference, inherited members are none. */
function isSame(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null || Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [Object.entries(a), Object.entries(b)];
  return left.length === right.length && left.every(([key, member]) => Object.hasOwn(b, key) && isSame(member, (b as JsonMap)[key]));
}

function versionEdits(yaml: EditableYaml, root: YAMLMap, version: string): readonly TextEdit[] {
  const quoted = `'${version}'`;
  const meta = entryOf(root, "meta");
  if (meta === null) {
    const after = entryOf(root, "tds_version");
    const value = `{ tool_catalog_version: ${quoted} }`;
    return [after === null ? insertFirst(yaml, root, "meta", jsonLike(root, value)) : insertAfter(yaml, root, after, "meta", jsonLike(root, value))];
  }
  if (isMap(meta.value)) {
    const entry = entryOf(meta.value, "tool_catalog_version");
    if (entry === null) return [insertFirst(yaml, meta.value, "tool_catalog_version", quoted)];
    if (isScalar(entry.value)) return [replaceScalar(entry.value, version)];
  }
  if (isScalar(meta.value)) return [replaceNull(meta, `{ tool_catalog_version: ${quoted} }`)];
  throw new Uneditable("meta is written as an alias");
}

/** In a catalog that is JSON, a value that is JSON. */
function jsonLike(root: YAMLMap, value: string): string {
  return root.flow === true ? value.replace("tool_catalog_version", '"tool_catalog_version"').replaceAll("'", '"') : value;
}

/** `key:` or `key: null` with a value; an empty one begins behind the colon. */
function replaceNull({ key, value }: Entry, text: string): TextEdit {
  const [start = 0, end = start] = (value as { readonly range?: readonly number[] }).range ?? [];
  if (end > start) return { offset: start, length: end - start, text };
  return insertAt((key.range?.[1] ?? 0) + 1, ` ${text}`);
}

function toolEdits(yaml: EditableYaml, root: YAMLMap, tool: JsonMap): readonly TextEdit[] {
  const entry = entryOf(root, "tools");
  if (entry === null) return [root.flow === true ? lastOfFlow(yaml, root, `"tools": [${JSON.stringify(tool)}]`) : afterLast(yaml, root, `tools:${yaml.newline}${blockItem(tool, 2, yaml.newline)}`)];
  const { value } = entry;
  if (isAlias(value)) throw new Uneditable("tools is written as an alias");
  if (isScalar(value)) return [root.flow === true ? replaceNull(entry, `[${JSON.stringify(tool)}]`) : replaceNull(entry, `${yaml.newline}${blockItem(tool, 2, yaml.newline)}`)];
  if (!isSeq(value)) throw new Uneditable("tools is not a list");
  if (value.flow === true && value.items.length === 0 && root.flow !== true) return opened(yaml, value, blockItem(tool, 2, yaml.newline));
  if (value.flow === true) return [lastOfFlow(yaml, value, JSON.stringify(tool))];
  return [afterLast(yaml, value, blockItem(tool, columnOf(yaml.text, value), yaml.newline))];
}

/** `tools: []` as a block list, in which people can read the tool; a comment stays on its line. */
function opened({ text, newline }: EditableYaml, { range }: YAMLSeq, item: string): readonly TextEdit[] {
  const [start = 0, end = start] = range ?? [];
  return [{ offset: start, length: end - start, text: "" }, behindLine(text, text.indexOf("\n", end), newline, item)];
}

function behindLine(text: string, lineEnd: number, newline: string, item: string): TextEdit {
  return lineEnd < 0 ? insertAt(text.length, `${newline}${item}`) : insertAt(lineEnd + 1, `${item}${newline}`);
}

/** A tool as an entry of a block list, its dash in a column; without the line end behind it. */
function blockItem(tool: JsonMap, column: number, newline: string): string {
  // One line for each text: nothing in a text can look like a line of the catalog.
  const printed = stringify([tool], { version: "1.1", lineWidth: 0, blockQuote: false, aliasDuplicateObjects: false, singleQuote: false });
  return printed.trimEnd().split("\n").map((line) => `${" ".repeat(column)}${line}`).join(newline);
}

/** Column of the dashes of a block list. */
function columnOf(text: string, list: YAMLSeq): number {
  const start = list.range?.[0] ?? 0;
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  return start - lineStart;
}

/** Behind the last line that a block collection has; comments and empty lines after it stay behind the new lines. */
function afterLast({ text, newline }: EditableYaml, list: YAMLMap | YAMLSeq, item: string): TextEdit {
  const end = endOf(list);
  const column = (list.range?.[0] ?? 0) - (text.lastIndexOf("\n", (list.range?.[0] ?? 0) - 1) + 1);
  const lineEnd = withComments(text, end > 0 && text[end - 1] === "\n" ? end - 1 : text.indexOf("\n", end), column);
  return behindLine(text, lineEnd, newline, item);
}

/** The line end behind the comments that are indented deeper than the list: they belong to its last entry. */
function withComments(text: string, lineEnd: number, column: number): number {
  let end = lineEnd;
  for (;;) {
    const comment = /^([ \t]*)#[^\n]*/.exec(text.slice(end + 1, end + 1 + 4_000));
    if (end < 0 || comment === null || (comment[1] ?? "").length <= column) return end;
    end = text.indexOf("\n", end + 1);
  }
}

/** Where the last value of a collection ends; a block text ends behind its last line. */
function endOf(node: unknown): number {
  if (isMap(node) || isSeq(node)) {
    if (node.flow === true) return node.range?.[1] ?? 0;
    const last: unknown = node.items.at(-1);
    if (isMap(node) && last !== undefined) {
      const { key, value } = last as { readonly key: unknown; readonly value: unknown };
      return Math.max(endOf(key), value === null ? 0 : endOf(value));
    }
    return last === undefined ? (node.range?.[1] ?? 0) : endOf(last);
  }
  return (node as { readonly range?: readonly number[] | null } | null)?.range?.[1] ?? 0;
}

/** Before the closing bracket of a flow collection, in the style of its last entry's line. */
function lastOfFlow({ text, newline }: EditableYaml, list: YAMLMap | YAMLSeq, item: string): TextEdit {
  const close = (list.range?.[1] ?? 1) - 1;
  const inside = text.slice((list.range?.[0] ?? 0) + 1, close);
  const end = list.items.length === 0 ? close : flowEnd(list);
  const hasComma = /^\s*(?:#[^\n]*\n\s*)*,/.test(text.slice(end, close));
  if (list.items.length === 0) return insertAt(close, item);
  const gap = inside.includes("\n") ? `${newline}${indentOf(text, list)}` : " ";
  if (!hasComma) return insertAt(end, `,${gap}${item}`);
  return insertAt(text.indexOf(",", end) + 1, `${gap}${item}`);
}

function flowEnd(list: YAMLMap | YAMLSeq): number {
  const last: unknown = list.items.at(-1);
  if (!isMap(list)) return (last as { readonly range?: readonly number[] }).range?.[1] ?? 0;
  const { key, value } = last as { readonly key: unknown; readonly value: unknown };
  return Math.max(endOf(key), value === null ? 0 : endOf(value));
}

/** The blanks before the last entry of a flow collection that has several lines. */
function indentOf(text: string, list: YAMLMap | YAMLSeq): string {
  const last: unknown = list.items.at(-1);
  const node = isMap(list) ? (last as { readonly key: unknown }).key : last;
  const start = (node as { readonly range?: readonly number[] }).range?.[0] ?? 0;
  return /^[ \t]*/.exec(text.slice(text.lastIndexOf("\n", start - 1) + 1))?.[0] ?? "";
}
