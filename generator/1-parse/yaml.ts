/**
 * YAML text → plain values plus the document they came from. The `yaml` package reads syntax and positions only;
 * scalars are decided by scalars.ts, and keys, merges and aliases here, so that existing catalogs keep their meaning.
 * Never throws for bad input, and never does unbounded work: size, depth and alias expansion are limited.
 */
import { Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, type Scalar, type YAMLMap, type YAMLSeq } from "yaml";
import { formatPath, type Reporter } from "../diagnostics.js";
import type { At, SourceFile } from "../ir.js";
import { isProtecting } from "./protecting.js";
import { plainScalar, type ScalarValue } from "./scalars.js";
import { LIMITS, MAX_DEPTH, readDocuments, reportSyntax } from "./yaml-syntax.js";

/** Largest catalog in bytes. */
export const MAX_BYTES = 1_000_000;
/** Most nodes that aliases may add. */
export const MAX_ALIAS_NODES = 100_000;

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
    const entries: { [key: string]: unknown } = {};
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
      if (Object.hasOwn(entries, name)) this.duplicate(name, entries[name], key.range?.[0] ?? 0);
      const read = this.below(name, pair.value);
      setMember(entries, name, read.value);
      size += read.size + 1;
      height = Math.max(height, read.height + 1);
    }
    for (const source of merged) {
      if (!isPlainMap(source.value)) {
        this.notSupported("a merge (<<) of something that is not a mapping");
        continue;
      }
      for (const [name, value] of Object.entries(source.value)) if (!Object.hasOwn(entries, name)) setMember(entries, name, value);
      size += source.size;
      height = Math.max(height, source.height);
    }
    return { value: entries, size, height };
  }

  /** The last one counts, as existing catalogs expect it, unless a protection is lost with the one before. */
  private duplicate(name: string, lost: unknown, offset: number): void {
    const path = [...this.path, name];
    const protects = path.some((key) => typeof key === "string" && isProtecting(key)) || holdsProtecting(lost);
    const more = protects ? { severity: "error" as const, help: "write it once, with all of its conditions: what the first one protects would not be in force" } : { severity: "warning" as const };
    this.reporter.report("TS0008", { key: formatPath(path) }, { path, on: "key" }, { offset, ...more });
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

/** A key is a text, also one that JavaScript gives a meaning. */
function setMember(entries: { [key: string]: unknown }, name: string, value: unknown): void {
  if (name === "__proto__") Object.defineProperty(entries, name, { value, configurable: true, enumerable: true, writable: true });
  else entries[name] = value;
}

function holdsProtecting(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsProtecting);
  return isPlainMap(value) && Object.entries(value).some(([key, member]) => isProtecting(key) || holdsProtecting(member));
}

function typeName(value: ScalarValue): "text" | "int" | "float" | "bool" | "null" {
  if (value === null) return "null";
  if (typeof value === "number") return Number.isInteger(value) ? "int" : "float";
  return typeof value === "boolean" ? "bool" : "text";
}

function isPlainMap(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
