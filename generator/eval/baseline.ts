/**
 * The baseline of an eval: what each scenario returned, and what a model chose, with the digest of what it chose from.
 * A choice is asked for again only when the definitions of the tools it is about have changed. Pure.
 */
import { z } from "zod";
import { canonicalJson, sha256Hex } from "../../runtime/abi/fingerprint.js";
import type { ToolDefinition } from "../../runtime/abi/params.js";
import type { Choice } from "./checks.js";
import type { ChooseTool, ScenarioResult } from "./run.js";
import type { Scenario } from "./scenarios.js";

const BASELINE = z.object({
  version: z.literal(1),
  tools: z.record(z.string(), z.string()),
  scenarios: z.record(z.string(), z.object({
    row_count: z.number(),
    rows: z.string().nullable(),
    choice: z.object({ of: z.string(), tool: z.string().nullable(), arguments: z.record(z.string(), z.unknown()) }).nullable(),
  })),
});

export type Baseline = z.infer<typeof BASELINE>;

/** What a model is shown, and which model it is: a choice holds for this alone. */
export interface Audience {
  readonly model: string;
  readonly profile: string;
  readonly definitions: readonly ToolDefinition[];
}

export function readBaseline(text: string): Baseline | { readonly problem: string } {
  try {
    const read = BASELINE.safeParse(JSON.parse(text));
    return read.success ? read.data : { problem: `${read.error.issues[0]?.path.join(".") || "the top level"}: ${read.error.issues[0]?.message ?? "not readable"}` };
  } catch (error) {
    return { problem: `it is not JSON: ${(error as SyntaxError).message}` };
  }
}

/** The file's text; scenarios and tools sorted by name. */
export function baselineText(results: readonly ScenarioResult[], definitions: readonly ToolDefinition[], audience: Audience | null, before: Baseline | null): string {
  const sorted = <T>(entries: readonly (readonly [string, T])[]): { readonly [name: string]: T } => Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
  const baseline = {
    version: 1,
    tools: sorted(definitions.map((definition) => [definition.name, sha256Hex(JSON.stringify(definition))])),
    scenarios: sorted(results.map(({ scenario, rowCount, ids, choice }) => [scenario.name, {
      row_count: rowCount,
      rows: ids === null ? null : sha256Hex(canonicalJson(ids)),
      // Without a model, what one chose before stays recorded.
      choice: choice === null || audience === null ? knownOf(before, scenario.name)?.choice ?? null : { of: choiceKey(scenario, choice.tool, audience), tool: choice.tool, arguments: choice.arguments },
    }])),
  };
  return `${JSON.stringify(baseline, null, 2)}\n`;
}

/** Digest of everything that decides a choice: the request, the model, and the definitions of the tools it is about. */
function choiceKey({ request, expected_tool: expected, forbidden_tools: forbidden }: Scenario, chosen: string | null, { model, profile, definitions }: Audience): string {
  const about = new Set([expected, chosen, ...forbidden]);
  const shown = expected === null && forbidden.length === 0 ? definitions : definitions.filter(({ name }) => about.has(name));
  return sha256Hex(canonicalJson({ request, model, profile, definitions: shown.map((definition) => JSON.stringify(definition)) }));
}

/** Asks a model only where the baseline has no choice that still holds. */
export function withBaseline(choose: ChooseTool, baseline: Baseline | null, audience: Audience): ChooseTool & { readonly reused: () => number } {
  let reused = 0;
  const asked: ChooseTool = (scenario, signal) => {
    const known = knownOf(baseline, scenario.name)?.choice ?? null;
    if (known === null || known.of !== choiceKey(scenario, known.tool, audience)) return choose(scenario, signal);
    reused += 1;
    return Promise.resolve<Choice>({ tool: known.tool, arguments: known.arguments });
  };
  return Object.assign(asked, { reused: () => reused });
}

function knownOf(baseline: Baseline | null, name: string): Baseline["scenarios"][string] | undefined {
  return baseline !== null && Object.hasOwn(baseline.scenarios, name) ? baseline.scenarios[name] : undefined;
}

/** How a result differs from the baseline, in words; null where it does not, or none is known. */
export function changeOf({ scenario, rowCount, ids, choice }: ScenarioResult, baseline: Baseline | null): string | null {
  const before = knownOf(baseline, scenario.name);
  if (before === undefined) return null;
  if (choice !== null && before.choice !== null && before.choice.tool !== choice.tool) return `the model chose ${before.choice.tool ?? "no tool"}, now ${choice.tool ?? "no tool"}`;
  if (scenario.call === null) return null;
  if (before.row_count !== rowCount) return `${before.row_count} row(s), now ${rowCount}`;
  return before.rows !== null && ids !== null && before.rows !== sha256Hex(canonicalJson(ids)) ? "other rows, or another order" : null;
}

/** Tools whose definition is not the one of the baseline, new ones too. */
export function changedTools(definitions: readonly ToolDefinition[], baseline: Baseline | null): readonly string[] {
  if (baseline === null) return [];
  return definitions.filter((definition) => !Object.hasOwn(baseline.tools, definition.name) || baseline.tools[definition.name] !== sha256Hex(JSON.stringify(definition))).map(({ name }) => name);
}
