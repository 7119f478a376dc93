/**
 * How many calls a server takes: security.rate_limit of a catalog. A call uses one unit of each window it touches, or of
 * none when one of them is full. The room knows plans and callers, never who is asking or by what transport.
 */
import { createHash } from "node:crypto";
import { isBackendError, ToolError } from "../abi/errors.js";
import type { LimitHealth, Program } from "../abi/call.js";
import type { QueryPlan, RateLimitPlan, RateWindows, ToolPlan } from "../abi/plan.js";
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
  const other: ToolRules = { always: requests, query: undefined, defaultText: undefined };
  const tools = new Map([...new Set([...Object.keys(plans), ...own.keys()])].map((tool): [string, ToolRules] => {
    const query = Object.hasOwn(plans, tool) ? queryOf(plans[tool]) : undefined;
    const schema = definitions.find((definition) => definition.name === tool)?.inputSchema;
    return [tool, { always: [...requests, ...(own.get(tool) ?? [])], query, defaultText: query === undefined ? undefined : defaultOf(schema, query.arg) }];
  }));
  const windowsOf = createWindows(`toolsrv:{${name}}:`);
  const touched = ({ tool, via, args, principal }: LimitedCall): readonly Window[] => {
    const { always, query, defaultText } = tools.get(tool) ?? other;
    const windowOf = windowsOf(principal);
    const windows = always.map(windowOf);
    // run_tool is no second call, but it may have a limit of its own.
    if (via !== null && via !== tool) for (const rule of own.get(via) ?? []) windows.push(windowOf(rule));
    if (query !== undefined && hasText(args, query.arg, defaultText)) {
      for (const rule of embeds) windows.push(windowOf(rule));
      if (query.expand !== undefined) for (const rule of expansions) windows.push(windowOf(rule));
    }
    return windows;
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

/** The windows of each caller, made on first use. */
function createWindows(prefix: string): (principal: string | null) => (rule: Rule) => Window {
  const kept = new Map<string | null, (rule: Rule) => Window>();
  return (principal) => {
    const before = kept.get(principal);
    if (before !== undefined) return before;
    const caller = principal === null ? "anonymous" : `of:${shortId(principal)}`;
    const windows = new Map<Rule, Window>();
    const windowOf = (rule: Rule): Window => {
      let window = windows.get(rule);
      if (window === undefined) {
        const { scope, id, limit, windowMs, what } = rule;
        const overflow = `${prefix}${scope}:${id}`;
        window = { key: scope === "global" ? overflow : `${prefix}${id}:${caller}`, overflow, limit, windowMs, what };
        windows.set(rule, window);
      }
      return window;
    };
    // Nothing is counted here: what is dropped is made again.
    if (kept.size >= MAX_KEPT) kept.clear();
    if (principal === null || principal.length <= MAX_ID) kept.set(principal, windowOf);
    return windowOf;
  };
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
  return id.length <= MAX_ID ? id : `sha256-${createHash("sha256").update(id, "utf8").digest("base64url")}`;
}
