/**
 * Arguments that clients repeat in HTTP headers (2026-07-28): where a property of a tool's inputSchema carries
 * `x-mcp-header: NAME`, its value comes as `Mcp-Param-NAME` too, so that a proxy can route by it.
 * Which headers those are is collected here, once; that they say what the body says is checked with each call.
 */
import type { Program } from "../abi/call.js";
import { ToolError } from "../abi/errors.js";
import type { ToolDefinition } from "../abi/params.js";
import { isObject } from "./jsonrpc.js";

/** One argument that is repeated in a header. */
export interface ParamHeader {
  /** The header as messages name it: `Mcp-Param-Region`. */
  readonly header: string;
  /** The same in lower case. */
  readonly key: string;
  /** Names of properties from the arguments down to the value. */
  readonly path: readonly string[];
}

export interface ParamHeaders {
  /** The request headers to read, lower-case, each once. */
  readonly keys: readonly string[];
  /**
   * Those of the tool that a request names; none for an unknown one.
   * @throws ToolError tds_invalid when extra tools that came later are annotated with what is not allowed, or not read.
   */
  of(tool: string): readonly ParamHeader[];
}

const KEYWORD = "x-mcp-header";
/** A field name of RFC 9110. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const TYPES: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"]);
/** Keywords whose members are schemas under names of their own. */
const MAPS: ReadonlySet<string> = new Set(["properties", "patternProperties", "dependentSchemas", "$defs", "definitions"]);
/** Keywords that hold values, in which the keyword is a name like any other. */
const VALUES: ReadonlySet<string> = new Set([KEYWORD, "default", "const", "enum", "examples"]);

const NONE: readonly ParamHeader[] = [];

/** @throws ToolError tds_invalid for an annotation that the protocol does not allow. */
export function createParamHeaders({ tools, extra }: Pick<Program, "tools" | "extra">): ParamHeaders {
  const compiled = collect(tools);
  let seen = extra?.definitions;
  let added = collect(seen ?? []);
  const keys: ReadonlySet<string> = new Set([...compiled.values(), ...added.values()].flatMap((headers) => headers.map(({ key }) => key)));
  return {
    keys: [...keys],
    of(tool) {
      if (extra !== undefined && extra.definitions !== seen) {
        added = collectLater(extra.definitions, keys);
        seen = extra.definitions;
      }
      return compiled.get(tool) ?? added.get(tool) ?? NONE;
    },
  };
}

/** Which headers a server reads is settled when it starts; a tool that needs another one could not be checked. */
function collectLater(definitions: readonly ToolDefinition[], keys: ReadonlySet<string>): ReadonlyMap<string, readonly ParamHeader[]> {
  const headers = collect(definitions);
  for (const [tool, list] of headers) {
    const unread = list.find(({ key }) => !keys.has(key));
    if (unread !== undefined) throw new ToolError("tds_invalid", `tool '${tool}' needs header ${unread.header}, which no tool had when the server started; restart the server`);
  }
  return headers;
}

/** By tool; only tools that have any. */
function collect(definitions: readonly ToolDefinition[]): ReadonlyMap<string, readonly ParamHeader[]> {
  const byTool = new Map<string, readonly ParamHeader[]>();
  for (const { name, inputSchema } of definitions) {
    const found: ParamHeader[] = [];
    visit({ tool: name, found }, inputSchema, "inputSchema", []);
    if (found.length > 0) byTool.set(name, found);
  }
  return byTool;
}

interface Scan {
  readonly tool: string;
  readonly found: ParamHeader[];
}

/** @param path of the property that the schema describes; `null` where it is reached in another way than through properties. */
function visit(scan: Scan, schema: unknown, place: string, path: readonly string[] | null): void {
  if (!isObject(schema)) return;
  if (Object.hasOwn(schema, KEYWORD)) scan.found.push(annotation(scan, schema, place, path));
  for (const [keyword, value] of Object.entries(schema)) {
    if (VALUES.has(keyword)) continue;
    const below = `${place}.${keyword}`;
    if (!MAPS.has(keyword)) {
      for (const child of Array.isArray(value) ? value : [value]) visit(scan, child, below, null);
    } else if (isObject(value)) {
      const chain = keyword === "properties" ? path : null;
      for (const [name, child] of Object.entries(value)) visit(scan, child, `${below}.${name}`, chain === null ? null : [...chain, name]);
    }
  }
}

/** The header of an annotated schema. @throws ToolError tds_invalid */
function annotation({ tool, found }: Scan, schema: { readonly [keyword: string]: unknown }, place: string, path: readonly string[] | null): ParamHeader {
  const name = schema[KEYWORD];
  const invalid = (why: string): ToolError => new ToolError("tds_invalid", `tool '${tool}': ${place}.${KEYWORD} ${why}`);
  if (path === null || path.length === 0) throw invalid("belongs to a property that is reached through 'properties' alone");
  if (typeof name !== "string" || !TOKEN.test(name)) throw invalid("names a header with letters, digits and any of !#$%&'*+-.^_`|~");
  if (!TYPES.has(schema["type"])) throw invalid("is for a property of type string, integer or boolean");
  const key = `mcp-param-${name.toLowerCase()}`;
  if (found.some((other) => other.key === key)) throw invalid(`is '${name}' a second time; upper and lower case are the same in header names`);
  return { header: `Mcp-Param-${name}`, key, path };
}
