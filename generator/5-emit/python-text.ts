/** The only ways by which text of a catalog enters generated Python: a string, a literal, a comment, or an identifier. */
import { jsString } from "./helpers.js";
import { WIDTH } from "./literal.js";

/** What a reviewer cannot see, what reorders what is seen, and halves of characters, which a file of UTF-8 cannot hold. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/gu;

/** A double-quoted Python string; everything unseen is written as an escape. */
export function pyString(text: string): string {
  const plain = text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n").replaceAll("\r", "\\r").replaceAll("\t", "\\t");
  return `"${plain.replace(UNSEEN, (char) => {
    const point = char.codePointAt(0) ?? 0;
    return point > 0xffff ? `\\U${point.toString(16).padStart(8, "0")}` : `\\u${point.toString(16).padStart(4, "0")}`;
  })}"`;
}

/**
 * Text that can be in a comment: one line, unseen characters as escapes. Of `coding:` in its first lines Python would
 * take the encoding of the file.
 */
export function pyComment(text: string): string {
  return jsString(text.replace(/\s+/g, " ").trim()).slice(1, -1).replaceAll('\\"', '"').replaceAll("\\\\", "\\").replace(/coding(?=[:=])/gi, "$& ");
}

/** Whether a text is characters only, no half of one: others cannot be compared or sent. */
export function isWellFormed(text: string): boolean {
  return !/\p{Cs}/u.test(text);
}

/** A JSON value as a Python literal that starts `before` columns into a line indented by `indent`. */
export function pyLiteral(value: unknown, indent: number, before: number): string {
  const flat = flatLiteral(value);
  // One column for the comma.
  if (before + flat.length + 1 <= WIDTH) return flat;
  if (typeof value === "string") return longText(value, indent);
  const [pad, close] = [" ".repeat(indent + 4), " ".repeat(indent)];
  if (Array.isArray(value)) return `[\n${value.map((item) => `${pad}${pyLiteral(item, indent + 4, indent + 4)},\n`).join("")}${close}]`;
  if (typeof value !== "object" || value === null) return flat;
  const lines = Object.entries(value).map(([key, inside]) => {
    const start = `${pad}${pyString(key)}: `;
    return `${start}${pyLiteral(inside, indent + 4, start.length)},\n`;
  });
  return `{\n${lines.join("")}${close}}`;
}

function flatLiteral(value: unknown): string {
  if (typeof value === "string") return pyString(value);
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) return `[${value.map(flatLiteral).join(", ")}]`;
  if (typeof value === "object") return `{${Object.entries(value).map(([key, inside]) => `${pyString(key)}: ${flatLiteral(inside)}`).join(", ")}}`;
  return Object.is(value, -0) ? "-0.0" : JSON.stringify(value);
}

/** A long text as several strings in parentheses, cut after spaces where there are any, never inside a character. */
function longText(text: string, indent: number): string {
  const room = Math.max(WIDTH - indent - 4 - `"",`.length, 20);
  const parts: string[] = [];
  let [part, width, cut] = ["", 0, 0];
  for (const char of text) {
    const charWidth = pyString(char).length - 2;
    if (width + charWidth > room) {
      const end = cut > 0 ? cut : part.length;
      parts.push(part.slice(0, end));
      part = part.slice(end);
      [width, cut] = [pyString(part).length - 2, 0];
    }
    part += char;
    width += charWidth;
    if (char === " ") cut = part.length;
  }
  parts.push(part);
  const pad = " ".repeat(indent + 4);
  return `(\n${parts.map((each) => `${pad}${pyString(each)}\n`).join("")}${" ".repeat(indent)})`;
}

/** Names that generated Python cannot give away: words of the language, types in annotations, and what the files use themselves. */
const TAKEN = new Set(
  (
    "False None True and as assert async await break class continue def del elif else except finally for from global if import in is " +
    "lambda nonlocal not or pass raise return try while with yield match case type " +
    "str int float bool list dict tuple set bytes object super property print " +
    "Any Annotated Literal Sequence Mapping Callable Field BaseModel ConfigDict Row Tool Tenancy Result CallContext TOOLS SERVER " +
    "given annotations definitions models self cls context arguments wire " +
    // Members of a pydantic model, which a field would hide.
    "construct copy dict from_orm json model_computed_fields model_config model_construct model_copy model_dump model_dump_json model_extra " +
    "model_fields model_fields_set model_json_schema model_parametrized_name model_post_init model_rebuild model_validate model_validate_json " +
    "model_validate_strings parse_file parse_obj parse_raw schema schema_json update_forward_refs validate"
  ).split(" "),
);

/**
 * One identifier for each name, the name itself wherever that is possible; otherwise unusable characters become `_`, a
 * name that starts with `_` or a digit follows `prefix`, and a trailing `_` makes it free.
 */
export function pyIdentifiers(names: readonly string[], prefix: string): ReadonlyMap<string, string> {
  const used = new Set(names.filter(isFree));
  return new Map(names.map((name) => {
    if (isFree(name)) return [name, name];
    let identifier = name.replace(/[^A-Za-z0-9_]/g, "_").replace(/^(?=[\d_]|$)/, prefix);
    while (!isFree(identifier) || used.has(identifier)) identifier += "_";
    used.add(identifier);
    return [name, identifier];
  }));
}

function isFree(name: string): boolean {
  return /^[A-Za-z][A-Za-z0-9_]*$/.test(name) && !TAKEN.has(name);
}

/** Whether a package can be imported by this name. */
export function isPackageName(name: string): boolean {
  return /^[a-z][a-z0-9_]*$/.test(name) && !TAKEN.has(name);
}

/** `search_movies` → `SearchMovies`; unique among the names. */
export function classNames(names: readonly string[]): ReadonlyMap<string, string> {
  const used = new Set<string>();
  return new Map(names.map((name) => {
    let made = name.split(/[^A-Za-z0-9]+/).map((word) => word.slice(0, 1).toUpperCase() + word.slice(1)).join("").replace(/^(?=\d|$)/, "Tool");
    while (used.has(made)) made += "_";
    used.add(made);
    return [name, made];
  }));
}
