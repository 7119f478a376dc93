/** The fields of a collection as its schema declares them, and how expressions name them. Pure. */
import { refuse } from "../reduce.js";

/**
 * `any`: a value of JSON, of whatever type · `list`: an array · `assumed`: nobody has looked, so it is written as a
 * declared field.
 */
export type FieldKind = "text" | "integer" | "float" | "boolean" | "list" | "any" | "assumed";

/** A field as an expression has it. */
export interface Field {
  readonly name: string;
  readonly kind: FieldKind;
  /** How a record without the value is found; `never`: every record has one. */
  readonly missing: "key" | "null" | "never";
}

export interface Declared {
  readonly kind: FieldKind | "json";
  readonly nullable: boolean;
}

/** What the adapter knows of a collection. */
export interface Fields {
  /** The field of record ids. */
  readonly id: string;
  readonly idKind: "text" | "integer";
  readonly declared: ReadonlyMap<string, Declared>;
  /** Other fields: in the dynamic field, nowhere, or not known. */
  readonly others: "dynamic" | "none" | "unknown";
}

/** A collection nobody has looked at. */
export const ASSUMED: Fields = { id: "id", idKind: "text", declared: new Map(), others: "unknown" };

/** Words of the expressions themselves: a field of such a name is written in full. */
const WORDS = /^(?:and|or|not|in|like|is|null|exists|true|false|iso|interval|between|text_match|phrase_match|random_sample|(?:array|json)_(?:contains(?:_all|_any)?|length)|st_\w+)$/i;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * The field of a path: `a` or `a["b"]["c"]`, declared or not. A path from anywhere but a checked catalog is checked
 * against its grammar again.
 * @throws BackendError unsupported for another path, and for a whole JSON field
 */
export function fieldOf(path: string, fields: Fields): Field {
  if (path === "id") return { name: fields.id, kind: fields.others === "unknown" ? "assumed" : fields.idKind, missing: "never" };
  const names = path.split(".");
  if (!names.every((name) => NAME.test(name))) return refuse("milvus", `the path '${path}'`);
  const [head = "", ...keys] = names;
  const within = keys.map((key) => `["${key}"]`).join("");
  const declared = fields.declared.get(head);
  if (declared === undefined) {
    // No declared field can be named like a word of the language, so this one is dynamic.
    const isWord = WORDS.test(head);
    const name = isWord ? `$meta["${head}"]` : head;
    if (fields.others === "unknown" && !isWord) return { name: name + within, kind: keys.length === 0 ? "assumed" : "any", missing: keys.length === 0 ? "never" : "key" };
    if (fields.others === "none") return refuse("milvus", `the path '${path}': the collection has no such field and no dynamic ones`);
    return { name: name + within, kind: "any", missing: "key" };
  }
  if (declared.kind !== "json") return keys.length === 0 ? { name: head, kind: declared.kind, missing: declared.nullable ? "null" : "never" } : refuse("milvus", `the path '${path}': ${head} is no JSON field`);
  return keys.length > 0 ? { name: head + within, kind: "any", missing: "key" } : refuse("milvus", `comparisons with the whole JSON field '${head}'`);
}
