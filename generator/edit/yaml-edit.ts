/**
 * Edits of YAML text at the offsets of its nodes. The `yaml` package could print a changed document, but would re-space
 * comments, quotes and flow collections; these edits leave every other byte alone. Made for files whose syntax was
 * checked.
 */
import { isAlias, isMap, isScalar, isSeq, parseDocument, type Document, type Pair, type Scalar, type YAMLMap, type YAMLSeq } from "yaml";
import { insertAt, type TextEdit } from "./text-edit.js";

/** A text with the document that was read from it. */
export interface EditableYaml {
  readonly text: string;
  readonly doc: Document;
  /** Line end of the text; of the first line where they differ. */
  readonly newline: "\n" | "\r\n";
}

/** A place that cannot be edited safely; the user has to write the change by hand. */
export interface Uneditable {
  readonly offset: number;
  readonly because: string;
}

/** One key of a map with its value. */
export interface Entry {
  readonly key: Scalar;
  readonly value: unknown;
  readonly pair: Pair;
}

const STEP = "  ";

/** The text as nodes with offsets. Values are never resolved, so aliases cost nothing. */
export function editableYaml(text: string): EditableYaml {
  const doc = parseDocument(text, { version: "1.1", schema: "failsafe", keepSourceTokens: true, uniqueKeys: false, logLevel: "silent" });
  return { text, doc, newline: /\r?\n/.exec(text)?.[0] === "\r\n" ? "\r\n" : "\n" };
}

/** The entry that decides a key, which is the last one written; null where the map does not write it itself. */
export function entryOf(map: YAMLMap, name: string): Entry | null {
  const pair = map.items.findLast(({ key }) => isScalar(key) && (key.value === name || key.source === name));
  return pair === undefined ? null : { key: pair.key as Scalar, value: pair.value, pair };
}

/** The map behind an alias or the map itself. */
export function mapOf(doc: Document, node: unknown): YAMLMap | null {
  const target = isAlias(node) ? node.resolve(doc) : node;
  return isMap(target) ? target : null;
}

/** The members of a list, aliases followed, each map once. */
export function mapsOf(doc: Document, node: unknown): readonly YAMLMap[] {
  const list = isAlias(node) ? node.resolve(doc) : node;
  if (!isSeq(list)) return [];
  return [...new Set(list.items.map((item) => mapOf(doc, item)).filter((map) => map !== null))];
}

function startOf(node: unknown): number {
  return (node as { readonly range?: readonly number[] | null }).range?.[0] ?? 0;
}

function endOf(node: unknown): number {
  return (node as { readonly range?: readonly number[] | null }).range?.[1] ?? 0;
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf("\n", offset - 1) + 1;
}

/** Column of an offset, a byte order mark not counted. */
function columnOf(text: string, offset: number): number {
  return offset - lineStart(text, offset) - (text.startsWith("\uFEFF") && lineStart(text, offset) === 0 ? 1 : 0);
}

function isQuotedTwice(key: Scalar): boolean {
  return key.type === "QUOTE_DOUBLE";
}

/** A plain word as a key or value in the quotes of its neighbour, so that JSON stays JSON. */
function quoteLike(neighbour: Scalar, word: string): string {
  return isQuotedTwice(neighbour) ? JSON.stringify(word) : word;
}

/** Gives a scalar another text, in its own quotes; a plain one gets single quotes. */
export function replaceScalar(node: Scalar, value: string): TextEdit {
  const quote = node.type === "QUOTE_DOUBLE" ? '"' : "'";
  const length = endOf(node) - startOf(node);
  return { offset: startOf(node), length, text: `${length === 0 ? " " : ""}${quote}${value}${quote}` };
}

/** Puts an entry before all others. `text` is the entry's value as it will be written. */
export function insertFirst({ text, newline }: EditableYaml, map: YAMLMap, name: string, value: string): TextEdit {
  const first = map.items[0]?.key;
  const neighbour = isScalar(first) ? first : ({ type: "PLAIN" } as Scalar);
  const word = `${quoteLike(neighbour, name)}: ${isQuotedTwice(neighbour) ? value.replaceAll("'", '"') : value}`;
  if (map.flow === true) {
    const open = startOf(map) + 1;
    return first === undefined ? insertAt(open, ` ${word} `) : insertAt(open, ` ${word},`);
  }
  const at = startOf(map);
  return insertAt(at, `${word}${newline}${" ".repeat(columnOf(text, at))}`);
}

/** Puts an entry behind another one: on the next line, or after a comma in a flow map. */
export function insertAfter({ text, newline }: EditableYaml, map: YAMLMap, entry: Entry, name: string, value: string): TextEdit {
  const word = `${quoteLike(entry.key, name)}: ${value}`;
  const end = endOf(entry.value ?? entry.key);
  if (map.flow === true) return insertAt(end, `, ${word}`);
  const column = columnOf(text, startOf(entry.key));
  const lineEnd = text.indexOf("\n", Math.max(end - 1, startOf(entry.key)));
  if (lineEnd < 0) return insertAt(text.length, `${newline}${" ".repeat(column)}${word}${newline}`);
  return insertAt(lineEnd + 1, `${" ".repeat(column)}${word}${newline}`);
}

interface SepToken {
  readonly type: string;
  readonly offset: number;
  readonly source: string;
}

/** The text between a key and its value: the colon, comments, anchors, line ends. */
function separators({ pair }: Entry): readonly SepToken[] {
  const token = (pair as unknown as { readonly srcToken?: { readonly sep?: readonly SepToken[] } }).srcToken;
  const sep = token?.sep ?? [];
  return sep.slice(sep.findIndex(({ type }) => type === "map-value-ind") + 1);
}

/**
 * Makes `key: [ … ]` into `key: { name: [ … ] }`, or in block style puts a line `name:` above the list. The list itself
 * keeps its bytes; only a list with the same indentation as its key moves two columns.
 */
export function wrapList(yaml: EditableYaml, entry: Entry, name: string): readonly TextEdit[] | Uneditable {
  const { text, newline } = yaml;
  const { key, value } = entry;
  const word = quoteLike(key, name);
  const sep = separators(entry);
  const properties = sep.find(({ type }) => type === "anchor" || type === "tag");
  if (isAlias(value) || (isSeq(value) && value.flow === true)) {
    const start = properties?.offset ?? startOf(value);
    return [insertAt(start, `{ ${word}: `), insertAt(endOf(value), " }")];
  }
  const lineEnd = sep.find(({ type }) => type === "newline");
  if (!isSeq(value) || lineEnd === undefined) return { offset: startOf(key), because: "the list begins on the line of its key" };
  const [keyColumn, column] = [columnOf(text, startOf(key)), columnOf(text, startOf(value))];
  const indent = column > keyColumn ? " ".repeat(column) : " ".repeat(keyColumn) + STEP;
  const moved = column > keyColumn ? [] : indentLines(text, value);
  if (properties !== undefined && properties.offset < lineEnd.offset) {
    // An anchor stays with the list that it names.
    const colon = (sep[0]?.offset ?? properties.offset);
    return [insertAt(colon, `${newline}${indent}${word}:`), ...moved];
  }
  return [insertAt(lineEnd.offset + lineEnd.source.length, `${indent}${word}:${newline}`), ...moved];
}

/** Every line of a list two columns to the right; empty lines stay empty. */
function indentLines(text: string, list: YAMLSeq): readonly TextEdit[] {
  const edits: TextEdit[] = [];
  for (let at = lineStart(text, startOf(list)); at < endOf(list); at = text.indexOf("\n", at) + 1) {
    const line = text.slice(at, text.indexOf("\n", at) < 0 ? text.length : text.indexOf("\n", at));
    if (line.trim() !== "") edits.push(insertAt(at, STEP));
    if (text.indexOf("\n", at) < 0) break;
  }
  return edits;
}
