/** docs/reference/keys.md: every key of a catalog, from specs/tds.schema.json. */
import type { SchemaNode } from "../1-parse/schema-node.js";
import { HEADER, cell, code, table } from "./markdown.js";

type Schema = SchemaNode & { readonly definitions: { readonly [name: string]: SchemaNode } };

interface Section {
  readonly title: string;
  readonly node: SchemaNode;
}

/** The page: one section for each mapping, in the order in which the catalog leads to them. */
export function keysPage(schema: Schema): string {
  const sections: Section[] = [{ title: "Catalog", node: schema }];
  const seen = new Set(["Catalog"]);
  const bodies: string[] = [];
  for (const { title, node } of sections) {
    const rows = Object.entries(node.properties ?? {}).map(([key, property]) => {
      const found = mappingOf(key, property, schema);
      if (found !== null && !seen.has(found.title)) {
        seen.add(found.title);
        sections.push(...(found.node.oneOf === undefined ? [found] : found.node.oneOf.map((option) => ({ title: option.$ref?.split("/").at(-1) ?? found.title, node: deref(option, schema) }))));
      }
      return row(key, property, node, found, schema);
    });
    bodies.push(`\n## ${title}\n\n${node.description === undefined ? "" : `${cell(node.description)}\n\n`}${table(["key", "value", "default", "meaning"], rows)}`);
  }
  return `${HEADER}# Keys of a catalog\n\nPrinted from \`specs/tds.schema.json\`, which editors use too. **Bold** keys are required. Both versions of the format have the same keys.\n${bodies.join("")}`;
}

function deref(node: SchemaNode, schema: Schema): SchemaNode {
  return node.$ref === undefined ? node : schema.definitions[node.$ref.split("/").at(-1) ?? ""] ?? node;
}

/** The mapping that a key's value is, or is a list or a map of; null for plain values. */
function mappingOf(key: string, property: SchemaNode, schema: Schema): Section | null {
  const name = property.$ref?.split("/").at(-1);
  const node = deref(property, schema);
  for (const option of node.anyOf ?? []) {
    const found = mappingOf(key, option, schema);
    if (found !== null) return found;
  }
  if (node.items !== undefined) return mappingOf(key, node.items, schema);
  if (typeof node.additionalProperties === "object") return mappingOf(key, node.additionalProperties, schema);
  return node.properties === undefined && node.oneOf === undefined ? null : { title: name ?? node.title ?? key, node };
}

function row(key: string, property: SchemaNode, parent: SchemaNode, found: Section | null, schema: Schema): readonly string[] {
  const node = deref(property, schema);
  const name = parent.required?.includes(key) === true ? `**${key}**` : key;
  const link = found === null ? "" : ` → ${sectionLinks(found)}`;
  const fallback = property.default ?? node.default;
  return [name, cell(valueOf(node, schema)) + link, fallback === undefined || fallback === null ? "" : code(JSON.stringify(fallback)), cell(property.description ?? node.description ?? "")];
}

function sectionLinks({ title, node }: Section): string {
  const titles = node.oneOf === undefined ? [title] : node.oneOf.map((option) => option.$ref?.split("/").at(-1) ?? title);
  return titles.map((one) => `[${one}](#${one.toLowerCase()})`).join(", ");
}

const WORDS: { readonly [type: string]: string } = {
  object: "mapping", array: "list", string: "text", integer: "whole number", number: "number", boolean: "true or false",
};

/** What a value may be, in words: `text`, `list of text`, `one of a, b`, `0 to 1`. */
function valueOf(node: SchemaNode, schema: Schema): string {
  if (node.const !== undefined) return `\`${String(node.const)}\``;
  if (node.enum !== undefined) return node.enum.filter((word) => word !== null).map((word) => `\`${String(word)}\``).join(" ");
  if (node.oneOf !== undefined) return "mapping";
  if (node.anyOf !== undefined) return [...new Set(node.anyOf.map((option) => valueOf(deref(option, schema), schema)).filter((word) => word !== ""))].join(" or ");
  const types = (typeof node.type === "string" ? [node.type] : node.type ?? []).filter((type) => type !== "null");
  if (types.length === 0) return "any value";
  return types.map((type) => {
    const items = type === "array" && node.items !== undefined ? ` of ${valueOf(deref(node.items, schema), schema)}` : "";
    const members = type === "object" && typeof node.additionalProperties === "object" ? ` of ${valueOf(deref(node.additionalProperties, schema), schema)}` : "";
    return `${WORDS[type] ?? type}${items}${members}${bounds(node)}`;
  }).join(" or ");
}

function bounds({ minimum, maximum, exclusiveMinimum, minLength, maxLength, maxItems }: SchemaNode): string {
  if (minLength !== undefined && maxLength !== undefined) return ` (${minLength} to ${maxLength} characters)`;
  if (maxItems !== undefined) return ` (at most ${maxItems})`;
  if (exclusiveMinimum !== undefined) return ` (above ${exclusiveMinimum}${maximum === undefined ? "" : `, at most ${maximum}`})`;
  if (minimum !== undefined && maximum !== undefined) return ` (${minimum} to ${maximum})`;
  return minimum === undefined ? "" : ` (at least ${minimum})`;
}
