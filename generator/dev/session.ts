/**
 * What `toolsrv dev` does beside serving, after each edit: shows the class of the change, builds, and runs the scenarios
 * that the edit touches. Everything is printed to standard error, because standard output belongs to the protocol.
 */
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "../build/build.js";
import { readOrder } from "../build/order.js";
import type { Io } from "../cli/command.js";
import { EXIT } from "../cli/exit.js";
import type { Compiled } from "../compile.js";
import { compareServers, type Surface } from "../diff/compare.js";
import { printChanges } from "../diff/print.js";
import { surfaceOf } from "../diff/surface.js";
import { connectForEval } from "../eval/connect.js";
import { openScenarios } from "../eval/open-scenarios.js";
import { evalReport, tableText } from "../eval/report.js";
import { runScenarios, type ScenarioResult } from "../eval/run.js";
import type { Scenario } from "../eval/scenarios.js";
import type { Companion } from "../serve/serve.js";
import { digestsOf, touchedScenarios, type Digests } from "./touched.js";

export interface DevOptions {
  /** As the user wrote them. */
  readonly catalog: string;
  readonly scenarios: string;
  /** Whether the user named the scenarios file; the default one may be missing. */
  readonly needsScenarios: boolean;
  readonly out: string;
}

/** A state of the catalog that compiled. */
interface Good {
  readonly compiled: Compiled;
  readonly env: ReadonlyMap<string, string>;
}

/** Begins a session; it works in the background, one edit after the other. */
export function createSession(options: DevOptions, io: Io): Companion {
  const { host, stderr } = io;
  let shown: Surface | null = null;
  let evaluated: Digests | null = null;
  let working: Promise<void> = Promise.resolve();
  /** Aborts when a newer edit has come, or the session ends. */
  let current = new AbortController();
  const passed = new Map<string, boolean>();
  const file = resolve(io.cwd, options.scenarios);

  const showChange = (surface: Surface): void => {
    if (shown !== null && shown.catalog.hash !== surface.catalog.hash) stderr.write(`\nedited ${options.catalog}\n${printChanges("text", compareServers([shown], [surface]), [surface])}`);
    shown = surface;
  };

  const evaluate = async ({ compiled, env }: Good, stop: AbortSignal): Promise<void> => {
    if (!options.needsScenarios && !(await host.exists(file))) return;
    const { plans } = compiled;
    const scenarios = await openScenarios(options.scenarios, Object.keys(plans.tools), options.catalog, io);
    if (scenarios === null) return;
    const now = digestsOf(plans, env, scenarios);
    const touched = touchedScenarios(scenarios, evaluated, now);
    if (touched.length > 0) {
      const results = await runAll(touched, { compiled, env }, stop);
      for (const { scenario, failures } of results) passed.set(scenario.name, failures.length === 0);
      const failing = scenarios.filter((scenario) => !touched.includes(scenario) && passed.get(scenario.name) === false).map(({ name }) => JSON.stringify(name));
      stderr.write(`\nevals: ${touched.length} of ${scenarios.length} scenario(s)\n${tableText(evalReport(options.scenarios, results), results)}${failing.length === 0 ? "" : `still failing: ${failing.join(", ")}\n`}`);
    }
    evaluated = now;
  };

  const runAll = async (touched: readonly Scenario[], { compiled, env }: Good, signal: AbortSignal): Promise<readonly (ScenarioResult & { readonly changed: null })[]> => {
    const base = pathToFileURL(`${dirname(resolve(io.cwd, options.catalog))}/`);
    const connection = await connectForEval(compiled.plans, { base, env, environment: io.env, now: () => host.monotonic() });
    const results = await runScenarios(touched, { call: connection.call, choose: null, now: () => host.monotonic(), signal }).finally(() => connection.close());
    return results.map((result) => ({ ...result, changed: null }));
  };

  const work = async (good: Good, stop: AbortSignal): Promise<void> => {
    try {
      stop.throwIfAborted();
      await rebuild(options, io);
      stop.throwIfAborted();
      await evaluate(good, stop);
    } catch (error) {
      if (!stop.aborted) stderr.write(`toolsrv dev: ${error instanceof Error ? error.message : String(error)}\n`);
    }
  };

  return {
    files: [file],
    onLoad({ compiled: [compiled], env }) {
      // A broken edit was reported; what was shown and tested last stays the state to compare with.
      if (compiled === undefined) return Promise.resolve();
      showChange(surfaceOf(options.catalog, compiled.plans));
      current.abort();
      current = new AbortController();
      const stop = AbortSignal.any([current.signal, io.signal]);
      working = working.then(() => work({ compiled, env }, stop));
      return Promise.resolve();
    },
    async close() {
      current.abort();
      await working;
    },
  };
}

/** Builds, and says on standard error what it changed, or why it could not. Warnings were printed when the catalog was read. */
async function rebuild({ catalog, out }: DevOptions, io: Io): Promise<void> {
  const { isTTY, columns } = io.stderr;
  const said: string[] = [];
  const problems: string[] = [];
  const code = await build(readOrder({ args: [catalog], options: { out } }), {
    ...io, stdout: { write: (text) => void said.push(text), isTTY, columns }, stderr: { write: (text) => void problems.push(text), isTTY, columns },
  });
  const notes = problems.filter((text) => code !== EXIT.OK || text.startsWith("toolsrv build:"));
  io.stderr.write([...said.filter((text) => !text.startsWith("unchanged ")), ...notes].join(""));
}
