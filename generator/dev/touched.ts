/**
 * What an edit touches, for `toolsrv dev`: the scenarios whose tool would now answer differently, and those that were
 * written anew. Pure; the session beside it reads, serves and runs.
 */
import { canonicalJson, sha256Hex } from "../../runtime/abi/fingerprint.js";
import type { Scenario } from "../eval/scenarios.js";
import type { Plans } from "../ir.js";

/** Digests of everything that decides the results of an eval. */
export interface Digests {
  /** By tool: its plan, arguments and definition, and what all tools share. */
  readonly tools: ReadonlyMap<string, string>;
  /** By name. */
  readonly scenarios: ReadonlyMap<string, string>;
}

/** Stores, embeddings, access rules and values of references count for every tool. */
export function digestsOf({ tools, inputs, definitions, connections, embeddings, settings }: Plans, env: ReadonlyMap<string, string>, scenarios: readonly Scenario[]): Digests {
  const shared = digest({ connections, embeddings, security: settings.security ?? null, env: [...env].sort() });
  const definition = new Map(definitions.map((one) => [one.name, one]));
  return {
    tools: new Map(Object.entries(tools).map(([name, plan]) => [name, digest({ plan, input: inputs[name] ?? null, definition: definition.get(name) ?? null, shared })])),
    scenarios: new Map(scenarios.map((scenario) => [scenario.name, digest(scenario)])),
  };
}

/** Scenarios with a call that have to run again, in their order; without an earlier state all of them. */
export function touchedScenarios(scenarios: readonly Scenario[], before: Digests | null, now: Digests): readonly Scenario[] {
  return scenarios.filter(({ name, call }) => {
    if (call === null) return false;
    return before === null || before.scenarios.get(name) !== now.scenarios.get(name) || before.tools.get(call.tool) !== now.tools.get(call.tool);
  });
}

function digest(value: unknown): string {
  return sha256Hex(canonicalJson(JSON.parse(JSON.stringify(value))));
}
