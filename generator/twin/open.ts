/** Reads what a twin is made of: the schema exports and scenarios that the command line names. */
import { resolve } from "node:path";
import { UsageError, type Invocation, type Io } from "../cli/command.js";
import { readCatalog, type Compiled } from "../compile.js";
import { readScenarios, type Scenario } from "../eval/scenarios.js";
import { printDiagnostics, wantsColor } from "../printers/print.js";
import { readExport, type SchemaExport } from "../schema/export.js";
import { readFaults, type Fault } from "./faults.js";
import { twinEnv, twinProgram } from "./program.js";
import { twinStore } from "./rows.js";
import type { Program } from "../../runtime/abi/call.js";
import type { Env } from "../../runtime/abi/references.js";

/** Read when --schema names none and it is there. */
const DEFAULT_SCHEMA = "schema.json";

export interface TwinParts {
  readonly schemas: ReadonlyMap<string, SchemaExport>;
  readonly seed: number;
}

/** @throws UsageError for a file or a number that cannot be used */
export async function readTwinParts({ options }: Invocation, io: Io): Promise<TwinParts> {
  const seed = Number(options["seed"] ?? 1);
  if (!Number.isSafeInteger(seed)) throw new UsageError(`--seed is a whole number, not '${String(options["seed"])}'`);
  const named = typeof options["schema"] === "string" ? options["schema"].split(",").map((file) => file.trim()).filter((file) => file !== "") : null;
  const schemas = new Map<string, SchemaExport>();
  for (const file of named ?? [DEFAULT_SCHEMA]) {
    const bytes = await io.host.read(resolve(io.cwd, file));
    if (bytes === null && named === null) continue;
    if (bytes === null) throw new UsageError(`cannot read '${file}': there is no such file; toolsrv introspect writes one`);
    const read = readExport(Buffer.from(bytes).toString("utf8"));
    if ("problem" in read) throw new UsageError(`'${file}' is no schema export: ${read.problem}`);
    schemas.set(read.connection, read);
  }
  return { schemas, seed };
}

/** The twin of one catalog, with the values of its references; null after the problems of its scenarios were printed. */
export async function openTwin(compiled: Compiled, { base, env, shown, skill }: { readonly base: URL; readonly env: Env; readonly shown: string; readonly skill?: Program["skill"] }, parts: TwinParts, { options }: Invocation, io: Io): Promise<{ readonly program: Program; readonly env: Env } | null> {
  const { plans, checked } = compiled;
  const tools = Object.keys(plans.tools);
  const scenarios = await openScenarios(options["scenarios"], tools, shown, io);
  if (scenarios === null) return null;
  const values = twinEnv(plans, env);
  const store = twinStore({ plans, catalog: checked, env: values, schemas: parts.schemas, scenarios, seed: parts.seed });
  return { program: twinProgram(plans, { base, skill, store, faults: faultsOf(options["fault"], tools), seed: parts.seed }), env: values };
}

function faultsOf(text: unknown, tools: readonly string[]): readonly Fault[] {
  if (typeof text !== "string") return [];
  const faults = readFaults(text, tools);
  if ("problem" in faults) throw new UsageError(`--fault: ${faults.problem}`);
  return faults;
}

async function openScenarios(file: unknown, tools: readonly string[], catalog: string, io: Io): Promise<readonly Scenario[] | null> {
  if (typeof file !== "string") return [];
  const read = await readCatalog(io.host, resolve(io.cwd, file), file);
  const result = read.value === null ? { scenarios: null, diagnostics: read.diagnostics, source: null } : readScenarios(read.value, tools, catalog);
  if (result.diagnostics.length > 0) io.stderr.write(printDiagnostics("text", result.diagnostics, { source: result.source, text: read.value?.text ?? null, color: wantsColor(io.stderr, io.env) }));
  return result.scenarios;
}
