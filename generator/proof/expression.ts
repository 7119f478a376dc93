/**
 * The expressions of `post_filter` steps, read a second time: only those that the check has accepted come here, so this
 * reader has no errors, only trees that differ from the planned one.
 */
import type { Instants } from "./written.js";

const TOKEN = /\s*(?:(?<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|(?<quoted>"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*')|(?<name>[A-Za-z_]\w*(?:\s*\.\s*[A-Za-z_]\w*)*)|(?<op>==|!=|>=|<=|[-+*/<>()]))/y;
const ESCAPES: { readonly [letter: string]: string } = { n: "\n", r: "\r", t: "\t", b: "\b", f: "\f", "0": "\0" };
const BINDING: { readonly [op: string]: number } = { or: 1, and: 2, "==": 4, "!=": 4, ">=": 4, "<=": 4, ">": 4, "<": 4, "+": 5, "-": 5, "*": 6, "/": 6 };
const NOT = 3;
const NEGATION = 7;
const WORDS: { readonly [word: string]: unknown } = { true: { lit: true }, false: { lit: false }, null: { lit: null } };

type Token = { readonly leaf: unknown } | { readonly op: string };

function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    const { number, quoted, name, op } = match.groups as { readonly [group: string]: string | undefined };
    const word = name?.toLowerCase() ?? "";
    if (op !== undefined) tokens.push({ op });
    else if (number !== undefined) tokens.push({ leaf: { lit: Number(number) } });
    else if (quoted !== undefined) tokens.push({ leaf: { lit: quoted.slice(1, -1).replace(/\\(?:u([0-9a-fA-F]{4})|([^]))/g, (_, hex?: string, char?: string) => (hex === undefined ? ESCAPES[char ?? ""] ?? char ?? "" : String.fromCharCode(parseInt(hex, 16)))) } });
    else if (word === "and" || word === "or" || word === "not") tokens.push({ op: word });
    else tokens.push({ leaf: WORDS[word] ?? named((name ?? "").replace(/\s/g, "")) });
  }
  return tokens;
}

function named(path: string): object {
  return path.startsWith("params.") ? { param: path.slice("params.".length) } : { field: path };
}

const COMPARES = /^(?:==|!=|>=|<=|>|<)$/;

/** The tree of an expression, in the form that plans have. */
export function treeOf(text: string, { fields, params }: Instants): unknown {
  const isDate = (side: unknown): boolean => {
    const { field, param } = (side ?? {}) as { readonly field?: string; readonly param?: string };
    return (field !== undefined && field !== "id" && field !== "_id" && fields.has(field)) || (param !== undefined && params.has(param));
  };
  const tokens = [...tokensOf(text)];
  const opOf = (token: Token | undefined): string => (token !== undefined && "op" in token ? token.op : "");
  const prefix = (): unknown => {
    const token = tokens.shift();
    if (token === undefined) return null;
    if ("leaf" in token) return token.leaf;
    if (token.op === "not") return { not: read(NOT - 1) };
    if (token.op === "-") return negated(read(NEGATION));
    const inner = read(0);
    tokens.shift();
    return inner;
  };
  const read = (above: number): unknown => {
    let left = prefix();
    for (let op = opOf(tokens[0]); (BINDING[op] ?? 0) > above; op = opOf(tokens[0])) {
      tokens.shift();
      const right = read(BINDING[op] as number);
      left = { op, l: left, r: right, ...(COMPARES.test(op) && (isDate(left) || isDate(right)) ? { dtype: "datetime" } : {}) };
    }
    return left;
  };
  return read(0);
}

function negated(inner: unknown): unknown {
  const { lit } = (inner ?? {}) as { readonly lit?: unknown };
  return typeof lit === "number" ? { lit: -lit } : { neg: inner };
}
