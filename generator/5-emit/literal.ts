/** Prints JSON values as the literals a person would write: on one line where it fits, else one member a line. */
import { jsKey, jsString } from "./helpers.js";

/** No generated line is longer than this, in columns. */
export const WIDTH = 108;
const STEP = 2;

/** Comments by dotted path (`guard`, `retrieve.guard`). An object with a commented member is printed on several lines. */
export type Comments = ReadonlyMap<string, string>;

const NONE: Comments = new Map();

interface Place {
  /** Spaces before the line the literal starts on. */
  readonly indent: number;
  /** Columns that stand before the literal on its first line. */
  readonly before: number;
  readonly path: string;
  readonly comments: Comments;
}

/**
 * The value as a JavaScript literal to stand `before` columns into a line that is indented by `indent`.
 * Lines after the first are indented; the first is not.
 */
export function literal(value: unknown, indent: number, before: number, comments: Comments = NONE): string {
  return print(value, { indent, before, path: "", comments });
}

/** `key: value,` and a line end, with its comment above; for members of an object that a template opens and closes. */
export function member(key: string, value: unknown, indent: number, comments: Comments = NONE): string {
  return printMember(key, value, { indent, before: 0, path: "", comments });
}

function print(value: unknown, place: Place): string {
  if (!hasComments(value, place) && !hasTable(value)) {
    const flat = flatLiteral(value);
    // One column for the comma.
    if (place.before + flat.length + 1 <= WIDTH) return flat;
  }
  if (typeof value === "string") return printText(value, place);
  const close = " ".repeat(place.indent);
  const inner = { ...place, indent: place.indent + STEP };
  if (Array.isArray(value)) {
    const pad = " ".repeat(inner.indent);
    const lines = value.map((item) => `${pad}${print(item, { ...inner, before: inner.indent, comments: NONE })},\n`);
    return `[\n${lines.join("")}${close}]`;
  }
  if (typeof value === "object" && value !== null) {
    const lines = Object.entries(value).map(([key, inside]) => printMember(key, inside, inner));
    return `{\n${lines.join("")}${close}}`;
  }
  return flatLiteral(value);
}

function printMember(key: string, value: unknown, place: Place): string {
  const pad = " ".repeat(place.indent);
  const path = place.path === "" ? key : `${place.path}.${key}`;
  const comment = Array.isArray(value) && value.length === 0 ? undefined : place.comments.get(path);
  const start = `${pad}${jsKey(key)}: `;
  const text = print(value, { ...place, path, before: start.length });
  return `${comment === undefined ? "" : `${pad}// ${comment}\n`}${text.startsWith("\n") ? start.trimEnd() : start}${text},\n`;
}

function hasComments(value: unknown, { path, comments }: Place): boolean {
  if (typeof value !== "object" || value === null) return false;
  return [...comments.keys()].some((each) => path === "" || each.startsWith(`${path}.`)) && Object.entries(value).some(([key, inside]) => {
    const below = path === "" ? key : `${path}.${key}`;
    return comments.has(below) || hasComments(inside, { indent: 0, before: 0, path: below, comments });
  });
}

/** Several objects in a list are read as rows of a table, one a line: adding one is a one-line diff. */
function hasTable(value: unknown): boolean {
  if (typeof value !== "object" || value === null) return false;
  const inside: readonly unknown[] = Object.values(value);
  const rows = Array.isArray(value) && value.length > 1 && inside.every((item) => typeof item === "object" && item !== null);
  return rows || inside.some(hasTable);
}

function flatLiteral(value: unknown): string {
  if (typeof value === "string") return jsString(value);
  if (Array.isArray(value)) return `[${value.map(flatLiteral).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    const members = Object.entries(value).map(([key, inside]) => `${jsKey(key)}: ${flatLiteral(inside)}`);
    return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
  }
  return Object.is(value, -0) ? "-0" : JSON.stringify(value);
}

/** A long text as a sum of short ones, cut after spaces where there are any, never inside a character. */
function printText(text: string, place: Place): string {
  const afterKey = place.before > place.indent;
  const indent = afterKey ? place.indent + STEP : place.indent;
  const room = Math.max(WIDTH - indent - `"" +,`.length, 20);
  const parts: string[] = [];
  let part = "";
  let width = 0;
  let cut = 0;
  for (const char of text) {
    const charWidth = jsString(char).length - 2;
    if (width + charWidth > room) {
      const end = cut > 0 ? cut : part.length;
      parts.push(part.slice(0, end));
      part = part.slice(end);
      width = jsString(part).length - 2;
      cut = 0;
    }
    part += char;
    width += charWidth;
    if (char === " ") cut = part.length;
  }
  parts.push(part);
  const sum = parts.map(jsString).join(` +\n${" ".repeat(indent)}`);
  return afterKey ? `\n${" ".repeat(indent)}${sum}` : sum;
}
