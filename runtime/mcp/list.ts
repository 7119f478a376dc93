/**
 * tools/list. The answer depends only on the protocol version and on what the caller may call, so it is serialized once
 * per combination and sent as bytes from then on.
 */
import type { Engine, Principal } from "../abi/call.js";
import type { ExtraTool } from "../abi/extra-tools.js";
import type { ToolDefinition } from "../abi/params.js";
import type { Json } from "../abi/plan.js";
import { FixedResult } from "./answer.js";
import { META_TOOLS } from "../call/meta-tools.js";
import { finishResult } from "./result.js";
import type { ProtocolVersion } from "./versions.js";

/** How long a client of the stateless protocol may keep a list; a catalog changes when somebody edits it. */
export const LIST_TTL_MS = 300_000;

/**
 * Tools on one page of tools/list. More than any catalog has in practice: clients that know no cursors see everything
 * of all others.
 */
const PAGE_TOOLS = 1000;

/** Audiences whose lists are remembered; there are as many as combinations of roles in use. */
export const MAX_AUDIENCES = 256;

export interface ToolLists {
  /** Result of tools/list; `cursor` as the page before gave it. `null` for a cursor that is not from this list. */
  tools(version: ProtocolVersion, principal: Principal, cursor?: unknown): FixedResult | null;
}

export interface ListParts {
  readonly engine: Engine;
  /** Who answers, as JSON text. */
  readonly infoText: string;
}

export function createLists({ engine, infoText }: ListParts): ToolLists {
  const { program, access } = engine;
  const withExtra = (tools: readonly ExtraTool[] = []): readonly ListedTool[] => [...program.tools, ...tools.map(listedExtra)];
  const { extra } = program;
  let extraListed = extra?.definitions;
  let all = withExtra(extraListed);
  const audiences = new Map<string, VersionLists>();
  const shape: ListShape = {
    metaTools: engine.metaTools ? META_TOOLS.filter(({ name }) => !access.isDenied(name)) : [],
    infoText,
    hash: program.catalog.hash,
    // A list that depends on the caller must not be shared by a cache.
    cacheScope: access.restricted ? "private" : "public",
  };

  const listsFor = (principal: Principal): VersionLists => {
    if (extra !== undefined && extra.definitions !== extraListed) {
      extraListed = extra.definitions;
      all = withExtra(extraListed);
      audiences.clear();
    }
    const audience = access.audience(principal);
    const before = audiences.get(audience);
    if (before !== undefined) return before;
    const lists = new VersionLists(shape, all.filter(({ name }) => access.refusal(name, principal) === null));
    if (audiences.size < MAX_AUDIENCES) audiences.set(audience, lists);
    return lists;
  };
  return {
    tools: (version, principal, cursor) => listsFor(principal).tools(version, cursor),
  };
}

interface ListShape {
  /** Those that are served and not denied. */
  readonly metaTools: readonly ToolDefinition[];
  readonly infoText: string;
  readonly cacheScope: "public" | "private";
  /** What a cursor belongs to: after a reload the old ones are refused. */
  readonly hash: string;
}

/** The answer for one set of tools, per protocol version, made on first use. */
class VersionLists {
  /** Pages after the first are made when they are asked for. */
  private readonly firstPages = new Map<ProtocolVersion, FixedResult>();

  constructor(
    private readonly shape: ListShape,
    private readonly visible: readonly ListedTool[],
  ) {}

  tools(version: ProtocolVersion, cursor: unknown): FixedResult | null {
    if (cursor === undefined) return this.firstPages.get(version) ?? remember(this.firstPages, version, () => this.page(version, 0));
    const from = readCursor(cursor, this.shape.hash);
    return from === null || from >= this.visible.length ? null : new FixedResult(this.page(version, from));
  }

  /** The page that starts at a compiled tool; the meta tools are on the first. */
  private page(version: ProtocolVersion, from: number): string {
    const { metaTools, infoText, cacheScope, hash } = this.shape;
    const until = from + PAGE_TOOLS;
    const compiled = this.visible.slice(from, until);
    const listed: readonly ListedTool[] = from === 0 ? [...metaTools, ...compiled] : compiled;
    const tools = listed.map((tool) => toolObject(tool, version));
    const next = until < this.visible.length ? { nextCursor: writeCursor(until, hash) } : {};
    const caching = version.era === "stateless" ? { ttlMs: LIST_TTL_MS, cacheScope } : {};
    return finishResult(JSON.stringify({ tools, ...next, ...caching }), version, infoText);
  }
}

function writeCursor(from: number, hash: string): string {
  return Buffer.from(`${from} ${hash}`).toString("base64url");
}

/** `null` for what `writeCursor` did not write for this catalog. */
function readCursor(cursor: unknown, hash: string): number | null {
  if (typeof cursor !== "string") return null;
  const [from = "", ...rest] = Buffer.from(cursor, "base64url").toString().split(" ");
  const known = /^[1-9]\d{0,8}$/.test(from) && rest.join(" ") === hash && writeCursor(Number(from), hash) === cursor;
  return known ? Number(from) : null;
}

function remember(made: Map<ProtocolVersion, FixedResult>, version: ProtocolVersion, make: () => string): FixedResult {
  const fixed = new FixedResult(make());
  made.set(version, fixed);
  return fixed;
}

/** What is sent of a tool: absent is what every compiled tool has, `null` is nothing. */
interface ListedTool extends ToolDefinition {
  readonly outputSchema?: Json | null;
  readonly annotations?: { readonly [hint: string]: boolean } | null;
}

function listedExtra({ name, title, description, inputSchema, outputSchema, annotations }: ExtraTool): ListedTool {
  return { name, title, description, inputSchema, outputSchema: outputSchema ?? null, annotations: annotations ?? null };
}

const READ_ONLY = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

/** A tool as tools/list shows it; keys in one order, those that a version does not know left out. */
function toolObject(tool: ListedTool, version: ProtocolVersion): { readonly [key: string]: Json } {
  const { outputSchema = ENVELOPE_SCHEMA, annotations = READ_ONLY } = tool;
  const hints = version.title === "annotations" ? { title: tool.title, ...annotations } : annotations;
  return {
    name: tool.name,
    ...(version.title === "tool" ? { title: tool.title } : {}),
    description: tool.description,
    inputSchema: tool.inputSchema,
    ...(version.structured && outputSchema !== null ? { outputSchema } : {}),
    ...(version.annotations && hints !== null ? { annotations: hints } : {}),
  };
}

/** The envelope of every compiled tool. */
const ENVELOPE_SCHEMA: Json = {
  type: "object",
  properties: {
    rows: { type: "array", items: { type: "object" } },
    count: { type: "integer" },
    truncated: { type: "boolean" },
    may_be_incomplete: { type: "boolean" },
    exact_search: { type: "boolean" },
    search_mode: { type: "string", enum: ["dense", "hybrid", "none"] },
    warnings: { type: "array", items: { type: "string" } },
    latency_ms: { type: "integer" },
    compiled_query: {},
    message: { type: ["string", "null"] },
  },
  required: ["rows", "count", "truncated", "may_be_incomplete", "exact_search", "search_mode", "warnings", "latency_ms", "compiled_query", "message"],
};
