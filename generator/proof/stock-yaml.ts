/**
 * The catalog as the stock YAML library reads it: its parser, its merge keys, its aliases. The compiler's own reader
 * (1-parse) is not used, so that a mistake in it cannot hide a guard from the proof. Scalars follow YAML 1.1 as existing
 * catalogs were written for it; the library's own 1.1 rules differ in a few spellings (`y`, `1e3`, dates), which are
 * stated here.
 */
import { Alias, Document, isCollection, isScalar, parseDocument, visit, type Node, type Scalar, type ScalarTag, type Tags } from "yaml";

const CORE = /^tag:yaml\.org,2002:(?:bool|int|float|timestamp)$/;
const digits = (text: string): string => text.replaceAll("_", "");
const sign = (text: string): number => (text.startsWith("-") ? -1 : 1);
/** `-0` is the number 0. */
const whole = (text: string, magnitude: number): number => (magnitude === 0 ? 0 : sign(text) * magnitude);
const based = (text: string, base: number, skip: number): number => whole(text, Number.parseInt(digits(text).replace(/^[-+]/, "").slice(skip) || "0", base));
const sixty = (text: string): number => whole(text, digits(text).replace(/^[-+]/, "").split(":").reduce((sum, part) => sum * 60 + Number(part), 0));

const scalar = (kind: string, test: RegExp, resolve: (text: string) => unknown): ScalarTag => ({ tag: `tag:yaml.org,2002:${kind}`, default: true, test, resolve });

const SCALARS: readonly ScalarTag[] = [
  scalar("bool", /^(?:yes|true|on)$/i, () => true),
  scalar("bool", /^(?:no|false|off)$/i, () => false),
  scalar("int", /^[-+]?0b_*[01][01_]*$/, (text) => based(text, 2, 2)),
  scalar("int", /^[-+]?0[0-7_]+$/, (text) => based(text, 8, 1)),
  scalar("int", /^[-+]?0x_*[0-9a-fA-F][0-9a-fA-F_]*$/, (text) => based(text, 16, 2)),
  scalar("int", /^[-+]?(?:0|[1-9][0-9_]*)$/, (text) => whole(text, Math.abs(Number(digits(text))))),
  scalar("int", /^[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+$/, sixty),
  scalar("float", /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*$/, sixty),
  scalar("float", /^(?:[-+]?[0-9][0-9_]*\.[0-9_]*|[-+]?\.[0-9][0-9_]*)(?:[eE][-+][0-9]+)?$/, (text) => whole(text, Math.abs(Number(digits(text))))),
  scalar("timestamp", /^[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]*)?(?:[ \t]*(?:Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?$/, (text) => isoText(text)),
];

/** `2024-1-2 3:04:05 +1` → `2024-01-02T03:04:05+01:00`. */
function isoText(text: string): string {
  const [date = "", clock = ""] = text.split(/[Tt]|[ \t]+/, 1).concat(text.replace(/^[0-9-]+(?:[Tt]|[ \t]+)/, ""));
  const [, hour = "", rest = "", zone = ""] = /^([0-9]{1,2})(:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?)\.?[ \t]*(.*)$/.exec(clock) ?? [];
  const two = (part: string): string => part.padStart(2, "0");
  const [zoneHours = "", zoneMinutes = "00"] = zone.slice(1).split(":");
  return `${date.split("-").map(two).join("-")}T${two(hour)}${rest}${zone === "" || zone === "Z" ? zone : `${zone.charAt(0)}${two(zoneHours)}:${zoneMinutes}`}`;
}

/** How the library reads catalogs. */
export const STOCK_OPTIONS = {
  version: "1.1", merge: true, stringKeys: true, uniqueKeys: false, logLevel: "error",
  customTags: (tags: Tags) => [...tags.filter((tag) => typeof tag === "string" || !CORE.test(tag.tag)), ...SCALARS],
} as const;

/** The value of a catalog's text. @throws YAMLParseError for a text that the library cannot read. */
export function readStockYaml(text: string): unknown {
  // Without types of scalars first: with `stringKeys` the library refuses an alias as a key, without it `1_0` becomes the key 10.
  const document = parseDocument(text, { version: "1.1", schema: "failsafe", uniqueKeys: false, logLevel: "error" });
  const [error] = document.errors;
  if (error !== undefined) throw error;
  return valueOfDocument(document);
}

/**
 * The value of a document that the library has composed, whatever schema it was composed with; the document is left as
 * it was. The library resolves merges and aliases here; nothing of what the compiler made of the document is used.
 */
export function valueOfDocument(document: Document): unknown {
  const reading = new Document(null, STOCK_OPTIONS);
  reading.contents = document.contents;
  const scalars: (readonly [node: Scalar, value: unknown])[] = [];
  const aliases: Alias[] = [];
  const anchors = new Map<string, Node>();
  const plain: PlainValues = new Map();
  visit(reading, {
    Node(key, node) {
      if (node instanceof Alias) return void aliases.push(lookUpOnce(node, anchors.get(node.source)));
      if (node.anchor !== undefined) anchors.set(node.anchor, node);
      if (isCollection(node) || key === "key") return;
      const value = scalarValue(node, reading, plain);
      if (value === node.value) return;
      scalars.push([node, node.value]);
      node.value = value;
    },
  });
  try {
    // What aliases expand to was bounded when the catalog was parsed.
    return reading.toJS({ maxAliasCount: -1 });
  } finally {
    for (const [node, value] of scalars) node.value = value;
    for (const alias of aliases) alias.resolve = Alias.prototype.resolve;
  }
}

/**
 * The library looks for the anchor of an alias among all anchors and aliases before it, which takes minutes for 50,000
 * of them. Shown only the last anchor of the name, it finds the same one at once.
 */
function lookUpOnce(alias: Alias, anchor: Node | undefined): Alias {
  alias.resolve = (doc, context) => {
    if (context !== undefined) context.aliasResolveCache = anchor === undefined ? [] : [anchor];
    return Alias.prototype.resolve.call(alias, doc, context);
  };
  return alias;
}

/** Values by text: without a tag a plain scalar is decided by its text alone, and most texts of a catalog come again and again. */
type PlainValues = Map<string, unknown>;

/** The value of a scalar by the tags of the schema, as the library chooses among them when it composes. */
function scalarValue({ source, tag: name, type, value }: Scalar, { schema }: Document, plain: PlainValues): unknown {
  if (source === undefined || name === "!" || (name === undefined && type !== "PLAIN")) return value;
  if (name !== undefined) return taggedValue(source, name, schema);
  if (!plain.has(source)) plain.set(source, taggedValue(source, undefined, schema));
  return plain.get(source);
}

function taggedValue(source: string, name: string | undefined, schema: Document["schema"]): unknown {
  const tag = schema.tags.find((tag): tag is ScalarTag => {
    if (tag.collection !== undefined || (name === undefined ? tag.default !== true : tag.tag !== name)) return false;
    return tag.test?.test(source) ?? name !== undefined;
  });
  const resolved = tag === undefined ? source : tag.resolve(source, () => undefined, STOCK_OPTIONS);
  return isScalar(resolved) ? resolved.value : resolved;
}
