/** Runs scenarios: each call through a connection of the library, each request through a model where there is one. */
import { isToolError } from "../../runtime/abi/errors.js";
import type { Connection } from "../connect.js";
import { checkCall, checkChoice, checkResult, type Choice } from "./checks.js";
import { asksModel, type JsonMap, type Scenario } from "./scenarios.js";

/** Chooses a tool for a request. @throws ModelProblem where it gives no answer */
export type ChooseTool = (scenario: Scenario, signal: AbortSignal) => Promise<Choice>;

/** A model that could not be asked; the message has no secret. */
export class ModelProblem extends Error {
  override readonly name = "ModelProblem";
}

export interface RunWorld {
  readonly call: Connection["call"];
  readonly choose: ChooseTool | null;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  readonly signal: AbortSignal;
  readonly onDone?: (done: number, all: number) => void;
}

export interface ScenarioResult {
  readonly scenario: Scenario;
  /** Why nothing was tested; null when something was. */
  readonly skipped: string | null;
  /** Empty for a scenario that passed. */
  readonly failures: readonly string[];
  readonly rowCount: number;
  /** Record ids in the order of the rows; null without a call that succeeded. */
  readonly ids: readonly unknown[] | null;
  /** What the model chose; null where it was not asked. */
  readonly choice: Choice | null;
  readonly latencyMs: number;
}

/** Scenarios at the same time: remote stores and models answer while others wait. */
const WORKERS = 4;

/** In the order of the scenarios. */
export async function runScenarios(scenarios: readonly Scenario[], world: RunWorld): Promise<readonly ScenarioResult[]> {
  const results = new Array<ScenarioResult>(scenarios.length);
  let [next, done] = [0, 0];
  const work = async (): Promise<void> => {
    for (let index = next++; index < scenarios.length; index = next++) {
      world.signal.throwIfAborted();
      results[index] = await runScenario(scenarios[index] as Scenario, world);
      world.onDone?.(++done, scenarios.length);
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, work));
  return results;
}

async function runScenario(scenario: Scenario, world: RunWorld): Promise<ScenarioResult> {
  const startedMs = world.now();
  const called = scenario.call === null ? null : await runCall(scenario, scenario.call, world);
  const chosen = world.choose !== null && asksModel(scenario) ? await askModel(scenario, world.choose, world.signal) : null;
  return {
    scenario,
    skipped: called === null && chosen === null ? "needs a model: --model" : null,
    failures: [...checkCall(scenario), ...(called?.failures ?? []), ...(chosen?.failures ?? [])],
    rowCount: called?.ids?.length ?? 0,
    ids: called?.ids ?? null,
    choice: chosen?.choice ?? null,
    latencyMs: world.now() - startedMs,
  };
}

async function runCall({ expect }: Scenario, { tool, arguments: args, context }: NonNullable<Scenario["call"]>, { call, signal }: RunWorld): Promise<{ readonly failures: readonly string[]; readonly ids: readonly unknown[] | null }> {
  try {
    const result = await call(tool, args, { ...(context as object), signal });
    return { failures: checkResult(expect, result), ids: result.rows.map((row) => row["_id"] ?? null) };
  } catch (error) {
    if (signal.aborted || !isToolError(error)) throw error;
    if (expect.error === undefined || expect.error === null) return { failures: [`execution failed: ${error.code}: ${error.message}`], ids: null };
    return { failures: error.code === expect.error ? [] : [`error: ${expect.error} expected, ${error.code} found: ${error.message}`], ids: null };
  }
}

async function askModel(scenario: Scenario, choose: ChooseTool, signal: AbortSignal): Promise<{ readonly failures: readonly string[]; readonly choice: Choice | null }> {
  try {
    const choice = await choose(scenario, signal);
    return { failures: checkChoice(scenario, choice), choice };
  } catch (error) {
    if (!(error instanceof ModelProblem)) throw error;
    return { failures: [`the model did not answer: ${error.message}`], choice: null };
  }
}

/** What one scenario shows as its arguments: those of its call. */
export function argumentsOf({ scenario: { call }, choice }: ScenarioResult): JsonMap {
  return call?.arguments ?? choice?.arguments ?? {};
}
