/** The properties of a collection as its schema declares them. Pure. */
import type { FieldInfo } from "../adapter.js";

/** `text`: compared as a whole · `words`: cut into words by the index, so that nothing equals the text itself. */
export type PropertyKind = "text" | "words" | "integer" | "float" | "boolean" | "date" | "list" | "other";

export interface Property {
  readonly kind: PropertyKind;
  /** Type of the elements of a list. */
  readonly element: "string" | "number" | "boolean" | null;
  readonly dtype: FieldInfo["dtype"];
  readonly filterable: boolean;
  readonly searchable: boolean;
}

/** Properties by name; null: nobody has looked. */
export type Properties = ReadonlyMap<string, Property> | null;

/** A property as the client reads it from the server, in the part that is read here. */
export interface Declared {
  readonly name: string;
  readonly dataType: string;
  readonly tokenization?: string;
  readonly indexFilterable?: boolean;
  readonly indexSearchable?: boolean;
}

const KINDS: { readonly [type: string]: readonly [PropertyKind, FieldInfo["dtype"]] } = {
  text: ["text", "keyword"], string: ["text", "keyword"], uuid: ["text", "keyword"], int: ["integer", "integer"], number: ["float", "float"], boolean: ["boolean", "boolean"], date: ["date", "datetime"],
};
const ELEMENTS: { readonly [type: string]: Property["element"] } = { "text[]": "string", "string[]": "string", "uuid[]": "string", "int[]": "number", "number[]": "number", "boolean[]": "boolean" };

export function propertiesOf(declared: readonly Declared[]): ReadonlyMap<string, Property> {
  return new Map(declared.map(({ name, dataType, tokenization, indexFilterable, indexSearchable }): [string, Property] => {
    const isList = dataType.endsWith("[]");
    const [kind, dtype]: readonly [PropertyKind, FieldInfo["dtype"]] = isList ? ["list", "keyword[]"] : KINDS[dataType] ?? ["other", "unknown"];
    const isWords = kind === "text" && dataType !== "uuid" && tokenization !== undefined && tokenization !== "field";
    return [name, { kind: isWords ? "words" : kind, element: ELEMENTS[dataType] ?? null, dtype, filterable: indexFilterable === true, searchable: indexSearchable === true }];
  }));
}
