/**
 * The plan of a step that a tool server of ours recorded: where its tool is written, its guard and its queries. It comes
 * in an attribute, which any sender may fill with anything, so every part of it is checked.
 */
import type { Json } from "./payload.js";

/** Of the start of a call (runtime/abi/explained.ts). */
export const PLAN_ATTRIBUTE = "toolsrv.plan";

export interface StepPlan {
  /** `tools.yaml:22` */
  readonly source: string;
  /** `plans.ts:17`; `null` where nothing was printed. */
  readonly printed: string | null;
  readonly guard: readonly string[];
  readonly certificate: string | null;
  readonly catalogVersion: string | null;
  readonly catalogHash: string | null;
  readonly queries: readonly { readonly title: string; readonly text: string }[];
  /** Arguments that the queries name, in their order. */
  readonly names: readonly string[];
}

type Attributes = { readonly [name: string]: unknown } | null | undefined;

/** `null` for a step without a plan, or with something else in its place. */
export function planOf(attributes: Attributes): StepPlan | null {
  const plan = attributes?.[PLAN_ATTRIBUTE];
  if (!isObject(plan) || typeof plan["source"] !== "string") return null;
  const queries = listOf(plan["calls"]).flatMap((call) => {
    const when = textOf(call["when"]) ?? "";
    return listOf(call["queries"]).map(({ title, lines }) => ({ title: `${textOf(title) ?? ""}${when === "" ? "" : `: ${when}`}`, text: textsOf(lines).join("\n") }));
  });
  return {
    source: plan["source"], printed: textOf(plan["printed"]), guard: textsOf(plan["guard"]), certificate: textOf(plan["certificate"]),
    catalogVersion: textOf(attributes?.["toolsrv.catalog.version"]), catalogHash: textOf(attributes?.["toolsrv.catalog.hash"]), queries,
    // The other placeholders have a space: `<fixed org>`, `<vector of 512>`.
    names: [...new Set(queries.flatMap(({ text }) => [...text.matchAll(/<([^\s<>]+)>/g)].flatMap(([, name]) => name ?? [])))],
  };
}

/** What the call gave for each argument of the queries, as JSON; `null` where it gave nothing. */
export function givenArguments(names: readonly string[], payload: Json): readonly (readonly [name: string, json: string | null])[] {
  const input: unknown = isObject(payload) ? payload["input"] : null;
  return names.map((name) => [name, isObject(input) && Object.hasOwn(input, name) ? JSON.stringify(input[name]) : null]);
}

function isObject(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function textOf(value: unknown): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : [];
}

function listOf(value: unknown): readonly { readonly [key: string]: unknown }[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
