/**
 * YAML text → plain values plus the document they came from. The `yaml` package reads syntax and positions only;
 * scalars are decided by scalars.ts, and keys, merges and aliases here, so that existing catalogs keep their meaning.
 * Never throws for bad input, and never does unbounded work: size, depth and alias expansion are limited.
 */
import { Composer, CST, Document, isAlias, isMap, isScalar, isSeq, Lexer, LineCounter, Parser, type Node, type Scalar, type YAMLMap, type YAMLSeq } from "yaml";
import { formatPath, type Reporter } from "../diagnostics.js";
import type { At, SourceFile } from "../ir.js";
import { plainScalar, type ScalarValue } from "./scalars.js";

/** Largest catalog in bytes. */
export const MAX_BYTES = 1_000_000;
/** Deepest value; the root is 0. */
export const MAX_DEPTH = 20;
/** Most nodes that aliases may add. */
export const MAX_ALIAS_NODES = 100_000;
/** Most aliases, each of which adds a node at least: so many are refused before a tree is made of them. */
const MAX_ALIASES = 50_000;
/** Syntax nested deeper is not composed at all; values are limited to MAX_DEPTH. */
const MAX_SYNTAX_DEPTH = 100;
/** Lexical parts and lines; a catalog of a million bytes written in the densest way has fewer. */
const MAX_LEXEMES = 500_000;
/** The limits that are known before there is a tree, by the code of what is over them. */
const LIMITS = { TS0005: MAX_DEPTH, TS0006: MAX_ALIASES, TS0013: MAX_LEXEMES } as const;
interface Refused {
  readonly refused: keyof typeof LIMITS;
  readonly offset: number;
}
/** Syntax errors shown; a file that is not YAML has one on every line. */
const MAX_SYNTAX_ERRORS = 10;

export interface YamlFile {
  readonly doc: Document;
  readonly lines: LineCounter;
  /** `undefined` when there is no usable value. */
  readonly value: unknown;
}

/** Reads a YAML text; problems go to the reporter. Null when not even a document could be made. */
export function readYaml(source: SourceFile, reporter: Reporter): YamlFile | null {
  const bytes = Buffer.byteLength(source.text);
  if (bytes > MAX_BYTES) {
    reporter.report("TS0004", { bytes, limit: MAX_BYTES }, null);
    return null;
  }
  const lines = new LineCounter();
  const docs = readDocuments(source.text, lines);
  if ("refused" in docs) {
    reporter.report(docs.refused, { limit: LIMITS[docs.refused] }, null, { offset: docs.offset });
    return { doc: new Document(null), lines, value: undefined };
  }
  const doc = docs[0] ?? new Document(null);
  const file = (value: unknown): YamlFile => ({ doc, lines, value });
  reportSyntax(doc, source.text, lines, reporter);
  if (doc.errors.length > 0) return file(undefined);
  if (docs.length > 1) {
    reporter.report("TS0009", { what: "a second document (---)" }, null, { offset: docs[1]?.range?.[0] ?? 0 });
    return file(undefined);
  }
  if (doc.contents === null || (isScalar(doc.contents) && doc.contents.source === "")) {
    reporter.report("TS0003", {}, null);
    return file(undefined);
  }
  return file(new Values(doc, reporter).read());
}

/** A function of its own, so that the tokens, larger than the text by far, are garbage before the values are made. */
function readDocuments(text: string, lines: LineCounter): readonly Document.Parsed[] | Refused {
  const tokens = readTokens(text, lines);
  return Array.isArray(tokens) ? compose(tokens, text.length) : tokens;
}

/**
 * Syntax tokens of the text. Composing them is recursive and costs memory for each, so nesting and number are bounded
 * here, where reading is still a loop.
 */
function readTokens(text: string, lines: LineCounter): CST.Token[] | Refused {
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  const tokens: CST.Token[] = [];
  let [lexemes, aliases] = [0, 0];
  const refuse = (refused: Refused["refused"]): Refused => ({ refused, offset: parser.offset });
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token);
    lexemes += 1;
    if (CST.tokenType(lexeme) === "alias") aliases += 1;
    if (parser.stack.length > MAX_SYNTAX_DEPTH) return refuse("TS0005");
    if (aliases > MAX_ALIASES) return refuse("TS0006");
    if (lexemes + lines.lineStarts.length > MAX_LEXEMES) return refuse("TS0013");
  }
  tokens.push(...parser.end());
  return tokens;
}

/** Tokens → documents. The failsafe schema leaves every scalar as its text; duplicate keys are found by `Values`. */
function compose(tokens: Iterable<CST.Token>, length: number): readonly Document.Parsed[] {
  const composer = new Composer({ schema: "failsafe", version: "1.1", uniqueKeys: false, strict: true, logLevel: "error" });
  // A text that is not YAML gives an error for every token; capturing a stack for each would cost more than everything else.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return [...composer.compose(tokens, true, length)];
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** The first error of each line, without its echoes: after one error the rest of a text is mostly unexpected. */
function reportSyntax(doc: Document, text: string, lines: LineCounter, reporter: Reporter): void {
  const seen = new Set<number>();
  for (const { code, message, pos: [start] } of doc.errors) {
    if (code === "UNEXPECTED_TOKEN" && seen.size > 0) continue;
    const offset = Math.min(start, text.length);
    const { line } = lines.linePos(offset);
    if (seen.has(line) || seen.size >= MAX_SYNTAX_ERRORS) continue;
    seen.add(line);
    const help = referenceHint(text, offset);
    reporter.report("TS0001", { detail: lowerFirst(message) }, null, { offset, ...(help === null ? {} : { help }) });
  }
}

/** `{api_key: ${KEY}}` reads as a mapping inside a mapping; the fix is a pair of quotes. */
function referenceHint(text: string, offset: number): string | null {
  const start = text.lastIndexOf("\n", offset - 1) + 1;
  const end = text.indexOf("\n", offset);
  const line = text.slice(start, end < 0 ? text.length : end);
  const bare = /[[{,:]\s*(\$\{[^}]*\})/.exec(line);
  return bare?.[1] === undefined ? null : `inside { } and [ ] a reference needs quotes: "${bare[1]}"`;
}

function lowerFirst(text: string): string {
  const line = text.split("\n", 1)[0] ?? text;
  return line.charAt(0).toLowerCase() + line.slice(1);
}

/** What reading gives after a limit was hit. */
const NOTHING: Read = { value: null, size: 1, height: 0 };

interface Read {
  readonly value: unknown;
  /** Nodes in the value, itself included. */
  readonly size: number;
  /** Levels below the value. */
  readonly height: number;
}

/** Turns nodes into values. An anchor is read once and its value shared: aliases cost their size only in the count. */
class Values {
  /** Anchors met so far, by name; a later one of the same name takes over, as the YAML rules say. */
  private readonly named = new Map<string, Node>();
  private readonly anchors = new Map<Node, Read>();
  /** Collections being read: an alias to one of them would never end. */
  private readonly open = new Set<Node>();
  /** Where reading is; copied only for reports. */
  private readonly path: (string | number)[] = [];
  private expanded = 0;
  private stopped = false;

  constructor(
    private readonly doc: Document,
    private readonly reporter: Reporter,
  ) {}

  /** The root's value; `undefined` when a limit was hit. */
  read(): unknown {
    const { value } = this.node(this.doc.contents);
    return this.stopped ? undefined : value;
  }

  private here(): At {
    return { path: [...this.path] };
  }

  private notSupported(what: string): void {
    if (!this.stopped) this.reporter.report("TS0009", { what }, this.here());
  }

  private stop(report: () => void): Read {
    if (!this.stopped) report();
    this.stopped = true;
    return NOTHING;
  }

  private tooDeep(): Read {
    return this.stop(() => this.reporter.report("TS0005", { limit: MAX_DEPTH }, { path: this.path.slice(0, MAX_DEPTH + 1) }));
  }

  private below(key: string | number, node: unknown): Read {
    this.path.push(key);
    const read = this.node(node);
    this.path.pop();
    return read;
  }

  private node(node: unknown): Read {
    if (this.stopped) return NOTHING;
    if (this.path.length > MAX_DEPTH) return this.tooDeep();
    if (isScalar(node)) {
      if (node.anchor !== undefined) this.named.set(node.anchor, node);
      return { value: this.scalar(node), size: 1, height: 0 };
    }
    if (isAlias(node)) return this.alias(this.named.get(node.source), node.source);
    if (isMap(node)) return this.collection(node, () => this.map(node));
    return isSeq(node) ? this.collection(node, () => this.seq(node)) : NOTHING;
  }

  private collection(node: YAMLMap | YAMLSeq, read: () => Read): Read {
    if (node.anchor !== undefined) this.named.set(node.anchor, node);
    this.open.add(node);
    const value = read();
    this.open.delete(node);
    if (node.anchor !== undefined) this.anchors.set(node, value);
    return value;
  }

  private alias(target: Node | undefined, name: string): Read {
    if (target === undefined) return this.stop(() => this.notSupported(`an alias without an anchor (*${name})`));
    if (this.open.has(target)) return this.stop(() => this.notSupported(`an alias inside its own anchor (*${name})`));
    const known = this.anchors.get(target) ?? this.node(target);
    this.expanded += known.size;
    if (this.expanded > MAX_ALIAS_NODES) return this.stop(() => this.reporter.report("TS0006", { limit: MAX_ALIAS_NODES }, this.here()));
    return this.path.length + known.height > MAX_DEPTH ? this.tooDeep() : known;
  }

  private seq({ items, tag }: YAMLSeq): Read {
    this.checkTag(tag, "seq");
    const value: unknown[] = [];
    let size = 1;
    let height = 0;
    for (const [index, item] of items.entries()) {
      const read = this.below(index, item);
      value.push(read.value);
      size += read.size;
      height = Math.max(height, read.height + 1);
    }
    return { value, size, height };
  }

  private map(map: YAMLMap): Read {
    this.checkTag(map.tag, "map");
    const entries = new Map<string, unknown>();
    const merged: Read[] = [];
    let size = 1;
    let height = 0;
    for (const pair of map.items) {
      const key: unknown = isAlias(pair.key) ? this.named.get(pair.key.source) : pair.key;
      if (!isScalar(key)) {
        this.notSupported("a key that is a list or a mapping");
        continue;
      }
      if (key.source === "<<" && key.type === "PLAIN") {
        merged.push(...this.mergeSources(pair.value));
        continue;
      }
      const name = String(key.value);
      if (entries.has(name)) this.duplicate(name, key.range?.[0] ?? 0);
      const read = this.below(name, pair.value);
      entries.set(name, read.value);
      size += read.size + 1;
      height = Math.max(height, read.height + 1);
    }
    for (const source of merged) {
      if (!isPlainMap(source.value)) {
        this.notSupported("a merge (<<) of something that is not a mapping");
        continue;
      }
      for (const [name, value] of Object.entries(source.value)) if (!entries.has(name)) entries.set(name, value);
      size += source.size;
      height = Math.max(height, source.height);
    }
    return { value: Object.fromEntries(entries), size, height };
  }

  private duplicate(name: string, offset: number): void {
    const path = [...this.path, name];
    this.reporter.report("TS0008", { key: formatPath(path) }, { path, on: "key" }, { offset });
  }

  private mergeSources(value: unknown): readonly Read[] {
    const target: unknown = isAlias(value) ? this.named.get(value.source) : value;
    return isSeq(target) ? target.items.map((item) => this.node(item)) : [this.node(value)];
  }

  private scalar(node: Scalar): ScalarValue {
    const text = typeof node.value === "string" ? node.value : String(node.value ?? "");
    const tag = this.checkTag(node.tag, "scalar");
    if (tag === "text" || (tag === null && node.type !== "PLAIN")) return text;
    const plain = plainScalar(text);
    if ("value" in plain) {
      if (tag !== null && tag !== typeName(plain.value)) this.notSupported(`the value '${text}' under the tag !!${tag}`);
      return plain.value;
    }
    this.reporter.report("TS0010", { value: text }, this.here());
    return text;
  }

  /** The kind of scalar that an explicit tag asks for; null without one. Unknown tags are reported. */
  private checkTag(tag: string | undefined, kind: "scalar" | "seq" | "map"): "text" | "int" | "float" | "bool" | "null" | null {
    if (tag === undefined || tag === `tag:yaml.org,2002:${kind}`) return null;
    if (kind === "scalar") {
      if (tag === "!" || tag === "tag:yaml.org,2002:str" || tag === "tag:yaml.org,2002:timestamp") return "text";
      const known = /^tag:yaml\.org,2002:(int|float|bool|null)$/.exec(tag)?.[1];
      if (known === "int" || known === "float" || known === "bool" || known === "null") return known;
    }
    this.notSupported(`the tag ${tag.replace("tag:yaml.org,2002:", "!!")}`);
    return null;
  }
}

function typeName(value: ScalarValue): "text" | "int" | "float" | "bool" | "null" {
  if (value === null) return "null";
  if (typeof value === "number") return Number.isInteger(value) ? "int" : "float";
  return typeof value === "boolean" ? "bool" : "text";
}

function isPlainMap(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
