/** Schemas of the OpenAPI document as HTML: what type a value has, which fields an object has, and links between them. */

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly default?: unknown;
  readonly required?: readonly string[];
  readonly properties?: { readonly [name: string]: Schema };
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

/** Text as text of a page, or of an attribute. */
export function escape(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

/** Text with `code` in it, as a paragraph; "" for none. */
export function paragraphs(text: string | undefined): string {
  return text === undefined ? "" : `<p>${inline(text)}</p>`;
}

function inline(text: string): string {
  return escape(text.trim()).replace(/`([^`]+)`/g, "<code>$1</code>");
}

/** The name at the end of a reference. */
export function refName(ref: string): string {
  return ref.slice(ref.lastIndexOf("/") + 1);
}

/** Values that a schema allows and no others: those of `enum`, or of a pattern that only lists words; `null` otherwise. */
export function choicesOf({ enum: values, pattern }: Schema): readonly string[] | null {
  if (values !== undefined) return values.map(String);
  const words = /^\^\(?(\w+(?:\|\w+)*)\)?\$$/.exec(pattern ?? "")?.[1];
  return words === undefined ? null : words.split("|");
}

/** What is asked of a value, as words; "" for nothing. */
export function ruleText(schema: Schema): string {
  const { minimum, maximum, minLength, maxLength, maxItems, pattern, default: fallback } = schema;
  const parts = [
    minimum !== undefined || maximum !== undefined ? `${minimum ?? ""}…${maximum ?? ""}` : "",
    minLength !== undefined || maxLength !== undefined ? `${minLength ?? 0} to ${maxLength ?? "any number of"} characters` : "",
    maxItems === undefined ? "" : `at most ${maxItems} items`,
    pattern === undefined || choicesOf(schema) !== null ? "" : `matches ${pattern}`,
    fallback === undefined ? "" : `default ${JSON.stringify(fallback)}`,
  ];
  return parts.filter((part) => part !== "").join(", ");
}

/** The type of a value, with links to the schemas that it names. */
export function typeHtml(schema: Schema): string {
  if (schema.$ref !== undefined) return `<a href="#schema-${escape(refName(schema.$ref))}">${escape(refName(schema.$ref))}</a>`;
  const several = schema.anyOf ?? schema.oneOf;
  if (several !== undefined) return several.map(typeHtml).join(" or ");
  if (schema.const !== undefined) return `<code>${escape(JSON.stringify(schema.const))}</code>`;
  if (schema.enum !== undefined) return schema.enum.map((value) => `<code>${escape(JSON.stringify(value))}</code>`).join(" ");
  if (schema.items !== undefined) return `list of ${typeHtml(schema.items)}`;
  const types = schema.type === undefined ? ["any value"] : typeof schema.type === "string" ? [schema.type] : schema.type;
  return `${types.map(escape).join(" or ")}${schema.format === undefined ? "" : ` (${escape(schema.format)})`}`;
}

/** One schema of the document, under its own anchor. */
export function schemaHtml(name: string, schema: Schema): string {
  return `<article id="schema-${escape(name)}"><h3><code>${escape(name)}</code></h3>${paragraphs(schema.description)}${bodyHtml(schema)}</article>`;
}

function bodyHtml(schema: Schema): string {
  if (schema.oneOf !== undefined) return `<p>One of:</p>${schema.oneOf.map(bodyHtml).join("")}`;
  if (schema.allOf !== undefined) return schema.allOf.map((part) => (part.$ref === undefined ? bodyHtml(part) : `<p>Everything of ${typeHtml(part)}, and:</p>`)).join("");
  if (schema.properties === undefined) return `<p>${typeHtml(schema)}</p>`;
  return fieldsHtml(schema.properties, new Set(schema.required));
}

function fieldsHtml(properties: { readonly [name: string]: Schema }, required: ReadonlySet<string>): string {
  const rows = Object.entries(properties).map(([name, schema]) => {
    const inside = schema.properties === undefined ? "" : fieldsHtml(schema.properties, new Set(schema.required));
    const rule = ruleText(schema);
    const said = [schema.description === undefined ? "" : inline(schema.description), rule === "" ? "" : `<i>${escape(rule)}</i>`].filter((part) => part !== "").join(" ");
    return `<tr><th scope="row"><code>${escape(name)}</code></th><td>${typeHtml(schema)}${required.has(name) ? "" : "<br><i>may be absent</i>"}</td><td>${said}${inside}</td></tr>`;
  });
  return `<table class="fields"><thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead><tbody>${rows.join("")}</tbody></table>`;
}
