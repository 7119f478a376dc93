/**
 * How many calls a server takes: security.rate_limit of a catalog. A call uses one unit of each window it touches, or of
 * none when one of them is full. The room knows plans and callers, never who is asking or by what transport.
 */
import { isBackendError, ToolError } from "../abi/errors.js";
import type { LimitHealth, Program } from "../abi/call.js";
import type { QueryPlan, RateLimitPlan, RateWindows, ToolPlan } from "../abi/plan.js";
import { nodeCrypto } from "../base/node-crypto.js";
import { isRecord } from "../base/paths.js";
import { readRate } from "../base/rate.js";
import type { Window, WindowRefusal, WindowStore } from "./window.js";

/** What decides which windows a call touches. */
export interface LimitedCall {
  readonly tool: string;
  /** The meta tool that named it. */
  readonly via: string | null;
  /** As sent. */
  readonly args: unknown;
  /** `null` when nobody was authenticated. */
  readonly principal: string | null;
}

export interface RateLimit {
  /**
   * Counts the call; `null` when it may go on at once.
   * @throws ToolError rate_limited with `retry_after_s`; also by the promise, which may reject with BackendError too.
   */
  admit(call: LimitedCall): Promise<void> | null;
  /** Asks a store outside of this process; `null` for one within. Never throws. */
  health(): Promise<LimitHealth | null>;
}

export interface RateLimitParts {
  /** Its references filled. */
  readonly plan: RateLimitPlan;
  readonly program: Pick<Program, "plans" | "tools">;
  /** Counters of other catalogs in the same store have other names. */
  readonly name: string;
  readonly store: WindowStore;
}

type Scope = "global" | "per_principal";

/** A window before it is known who calls. */
interface Rule {
  readonly scope: Scope;
  readonly id: string;
  readonly limit: number;
  readonly windowMs: number;
  readonly what: string;
}

/** What a call of one tool touches. */
interface ToolRules {
  readonly always: readonly Rule[];
  /** Those and what a search by text touches; the same list where that is nothing more. */
  readonly byText: readonly Rule[];
  readonly query: QueryPlan | undefined;
  /** The query text of a call that gives none. */
  readonly defaultText: unknown;
}

const MINUTE_MS = 60_000;
/** Longer ids are counted by their digest. */
const MAX_ID = 64;

/** @throws ToolError tds_invalid for a rate that this runtime cannot read. */
export function createRateLimit({ plan, program: { plans, tools: definitions }, name, store }: RateLimitParts): RateLimit {
  const requests = minuteRules(plan, "requests_per_minute", "calls");
  const embeds = minuteRules(plan, "embed_requests_per_minute", "searches by text");
  const expansions = minuteRules(plan, "llm_requests_per_minute", "query expansions");
  const own = new Map(Object.entries(plan.per_tool).map(([tool, text]) => [tool, toolRules(tool, text)]));
  const other: ToolRules = { always: requests, byText: requests, query: undefined, defaultText: undefined };
  const tools = new Map([...new Set([...Object.keys(plans), ...own.keys()])].map((tool): [string, ToolRules] => {
    const query = Object.hasOwn(plans, tool) ? queryOf(plans[tool]) : undefined;
    const schema = definitions.find((definition) => definition.name === tool)?.inputSchema;
    const ofTool = own.get(tool) ?? NO_RULES;
    const ofText = query === undefined ? NO_RULES : query.expand === undefined ? embeds : [...embeds, ...expansions];
    const always = joined(requests, ofTool);
    return [tool, { always, byText: joined(always, ofText), query, defaultText: query === undefined ? undefined : defaultOf(schema, query.arg) }];
  }));
  const callerOf = createCallers(`toolsrv:{${name}}:`);
  const touched = ({ tool, via, args, principal }: LimitedCall): readonly Window[] => {
    const { always, byText, query, defaultText } = tools.get(tool) ?? other;
    const caller = callerOf(principal);
    const windows = caller.windows(always !== byText && query !== undefined && hasText(args, query.arg, defaultText) ? byText : always);
    // run_tool is no second call, but it may have a limit of its own.
    const named = via === null || via === tool ? undefined : own.get(via);
    return named === undefined ? windows : [...windows, ...caller.windows(named)];
  };

  return {
    admit(call) {
      const windows = touched(call);
      if (windows.length === 0) return null;
      const taken = store.take(windows);
      if (taken instanceof Promise) return admitLater(taken, plan.on_store_error === "open");
      if (taken !== null) throw refused(taken);
      return null;
    },
    async health() {
      // A call that touches no window asks the store and counts nothing.
      const asked = store.take([]);
      if (!(asked instanceof Promise)) return null;
      const ok = await asked.then(() => true, () => false);
      return { ok, store: plan.store, required: plan.on_store_error === "closed" };
    },
  };
}

/** Only a store that is away may be ignored, and only where the catalog says so. */
async function admitLater(taking: Promise<WindowRefusal | null>, passWithoutStore: boolean): Promise<void> {
  let taken: WindowRefusal | null;
  try {
    taken = await taking;
  } catch (error) {
    if (passWithoutStore && isBackendError(error) && error.kind === "unreachable") return;
    throw error;
  }
  if (taken !== null) throw refused(taken);
}

function refused({ window, retryAfterMs }: WindowRefusal): ToolError {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1000));
  return new ToolError("rate_limited", `rate limit: at most ${window.limit} ${window.what}; try again in ${seconds} s`, { retry_after_s: seconds });
}

/** Callers whose windows are kept; a text that is used again as a key costs a tenth of a new one. */
const MAX_KEPT = 10_000;

/** The windows of one caller, made on first use. */
class CallerWindows {
  private readonly made = new Map<Rule, Window>();
  /** By the list of their rules, of which a catalog has two for each tool with limits of its own and two for all others. */
  private readonly lists = new Map<readonly Rule[], readonly Window[]>();

  constructor(
    private readonly prefix: string,
    private readonly caller: string,
  ) {}

  /** The windows of some rules, in their order. */
  windows(rules: readonly Rule[]): readonly Window[] {
    const before = this.lists.get(rules);
    if (before !== undefined) return before;
    const windows = rules.map((rule) => this.windowOf(rule));
    this.lists.set(rules, windows);
    return windows;
  }

  private windowOf(rule: Rule): Window {
    const before = this.made.get(rule);
    if (before !== undefined) return before;
    const { scope, id, limit, windowMs, what } = rule;
    const overflow = `${this.prefix}${scope}:${id}`;
    const window = { key: scope === "global" ? overflow : `${this.prefix}${id}:${this.caller}`, overflow, limit, windowMs, what };
    this.made.set(rule, window);
    return window;
  }
}

function createCallers(prefix: string): (principal: string | null) => CallerWindows {
  const kept = new Map<string | null, CallerWindows>();
  return (principal) => {
    const before = kept.get(principal);
    if (before !== undefined) return before;
    const caller = new CallerWindows(prefix, principal === null ? "anonymous" : `of:${shortId(principal)}`);
    // Nothing is counted here: what is dropped is made again.
    if (kept.size >= MAX_KEPT) kept.clear();
    if (principal === null || principal.length <= MAX_ID) kept.set(principal, caller);
    return caller;
  };
}

const NO_RULES: readonly Rule[] = [];

/** Both lists in one; the first itself where the second is empty, so that tools without rules of their own share theirs. */
function joined(first: readonly Rule[], second: readonly Rule[]): readonly Rule[] {
  return second.length === 0 ? first : [...first, ...second];
}

/** 0 and nothing are no limit. */
function minuteRules({ global, per_principal }: RateLimitPlan, key: keyof RateWindows, what: string): readonly Rule[] {
  return ([["global", global, "of this server"], ["per_principal", per_principal, "of one caller"]] as const).flatMap(([scope, windows, whose]): readonly Rule[] => {
    const limit = windows[key] ?? 0;
    return limit > 0 ? [{ scope, id: key, limit, windowMs: MINUTE_MS, what: `${what} ${whose} per minute` }] : [];
  });
}

function toolRules(tool: string, text: string): readonly Rule[] {
  const rate = readRate(text);
  if (rate === null) throw new ToolError("tds_invalid", `security.rate_limit.per_tool.${tool} is not a rate`);
  if (rate.limit === 0) return [];
  return [{ scope: "per_principal", id: `tool:${tool}`, limit: rate.limit, windowMs: rate.windowMs, what: `calls of tool '${tool}' per ${rate.unit}` }];
}

function queryOf(plan: ToolPlan | undefined): QueryPlan | undefined {
  if (plan === undefined) return undefined;
  const read = plan.kind === "pipeline" ? plan.retrieve : plan;
  return "query" in read ? read.query : undefined;
}

/** As binding decides it: an empty text makes the call a read by filter, which embeds nothing. */
function hasText(args: unknown, arg: string, fallback: unknown): boolean {
  const given = isRecord(args) && Object.hasOwn(args, arg) ? args[arg] : undefined;
  const text = given ?? fallback;
  return text !== undefined && text !== null && text !== "";
}

function defaultOf(schema: unknown, arg: string): unknown {
  const properties = isRecord(schema) && isRecord(schema["properties"]) ? schema["properties"] : {};
  const property = Object.hasOwn(properties, arg) ? properties[arg] : undefined;
  return isRecord(property) ? property["default"] : undefined;
}

function shortId(id: string): string {
  return id.length <= MAX_ID ? id : `sha256-${nodeCrypto().createHash("sha256").update(id, "utf8").digest("base64url")}`;
}
