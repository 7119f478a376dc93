/** `toolsrv explain`: what a tool may do, down to the query that its store would get. Opens no store and no network without --live. */
import { dirname, resolve } from "node:path";
import { isBackendError, isToolError } from "../../../runtime/abi/errors.js";
import { checkArgs, type ToolDefinition, type Validator } from "../../../runtime/abi/params.js";
import type { Env } from "../../../runtime/abi/references.js";
import { validatorOf } from "../../../runtime/abi/validators.js";
import type { ToolPlan } from "../../../runtime/abi/plan.js";
import type { Adapter } from "../../../runtime/adapters/adapter.js";
import { compile, readCatalog, readEnvFile, type Compilation, type Compiled } from "../../compile.js";
import { exampleArguments, type RecordedRead, recordQueries } from "../../explain/record.js";
import { explainText, type ExplainedCall, type ExplainedCost, type Explanation } from "../../explain/text.js";
import type { Diagnostic, QueryProgram } from "../../ir.js";
import { printDiagnostics, wantsColor } from "../../printers/print.js";
import { unknownTool } from "../../printers/unknown-tool.js";
import { queryProgramOf } from "../../program.js";
import { UsageError, type CommandModule, type Invocation, type Io } from "../command.js";
import { EXIT } from "../exit.js";

export const run: CommandModule["run"] = async (invocation, io) => {
  const given = readArguments(invocation.options["args"]);
  const loaded = await load(invocation, io);
  if (loaded === null) return EXIT.USAGE;
  const { compiled } = loaded;
  const tool = invocation.args[1] ?? "";
  const names = Object.keys(compiled.plans.tools);
  if (!names.includes(tool)) {
    io.stderr.write(unknownTool("explain", invocation.args[0] ?? "", tool, names));
    return EXIT.USAGE;
  }
  const ask = invocation.options["live"] === true ? (requests: readonly RecordedRead[]) => costsOf(loaded, requests, io) : null;
  const explanation = await explain(loaded, tool, given, ask);
  if (typeof explanation === "string") {
    io.stderr.write(`toolsrv explain: --args: ${explanation}\n`);
    return EXIT.USAGE;
  }
  if (invocation.options["json"] === true) {
    io.stdout.write(`${JSON.stringify(explanation, null, 2)}\n`);
    return EXIT.OK;
  }
  const { literal } = await import("../../5-emit/literal.js");
  io.stdout.write(explainText(explanation, (value) => literal(value, 0, 0)));
  return EXIT.OK;
};

/** The object of --args; null when there is none. */
function readArguments(text: unknown): object | null {
  if (typeof text !== "string") return null;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new UsageError("--args is not JSON");
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new UsageError("--args takes a JSON object");
  return value;
}

interface Loaded {
  readonly compiled: Compiled;
  readonly env: Env;
  /** The catalog as it was named, and its folder. */
  readonly catalog: string;
  readonly base: string;
}

/** Asks the stores what requests cost. */
type AskCosts = (requests: readonly RecordedRead[]) => Promise<readonly ExplainedCost[]>;

/** How long the stores may take to answer. */
const LIVE_TIMEOUT_MS = 15_000;

async function costsOf({ compiled, env, catalog, base }: Loaded, requests: readonly RecordedRead[], io: Io): Promise<readonly ExplainedCost[]> {
  const { openStore } = await import("../../schema/open-store.js");
  const signal = AbortSignal.any([io.signal, AbortSignal.timeout(LIVE_TIMEOUT_MS)]);
  const costs: ExplainedCost[] = [];
  for (const { connection, request } of requests) {
    const resolved = compiled.checked.connections.find(({ name }) => name === connection);
    let adapter: Adapter | null = null;
    try {
      if (resolved === undefined) throw new UsageError(`the catalog has no connection '${connection}'`);
      adapter = await openStore(resolved, { base, from: { catalog, connection } }, { host: io.host, env, variables: io.env });
      costs.push({ connection, cost: adapter.cost === undefined ? null : await adapter.cost(request, signal), problem: null });
    } catch (error) {
      if (!isToolError(error) && !isBackendError(error)) throw error;
      costs.push({ connection, cost: null, problem: error.message });
    } finally {
      await adapter?.close();
    }
  }
  return costs;
}

/** Native queries show the values of --env-file; without the flag, references are shown as the catalog writes them. */
async function load({ args, options }: Invocation, io: Io): Promise<Loaded | null> {
  const shown = args[0] ?? "";
  const envFile = options["env-file"];
  const [catalog, env] = await Promise.all([
    readCatalog(io.host, resolve(io.cwd, shown), shown),
    typeof envFile === "string" ? readEnvFile(io.host, resolve(io.cwd, envFile), envFile) : null,
  ]);
  const unread = [...catalog.diagnostics, ...(env?.diagnostics ?? [])];
  if (catalog.value === null || env?.value === null) {
    print(unread, null, null, io);
    return null;
  }
  const { value, diagnostics, source } = compile(catalog.value, {
    ...(env === null ? {} : { env: env.value }), target: "describe",
  });
  print(diagnostics, source, catalog.value.text, io);
  return value === null ? null : { compiled: value, env: env?.value ?? new Map(), catalog: shown, base: dirname(resolve(io.cwd, shown)) };
}

function print(diagnostics: readonly Diagnostic[], source: Compilation["source"], text: string | null, io: Io): void {
  if (diagnostics.length > 0) io.stderr.write(printDiagnostics("text", diagnostics, { source, text, color: wantsColor(io.stderr, io.env) }));
}

/** The explanation, or what is wrong with the arguments. */
async function explain({ compiled, env }: Loaded, tool: string, given: object | null, ask: AskCosts | null): Promise<Explanation | string> {
  const { plans, certificates } = compiled;
  const program = queryProgramOf(plans);
  const definition = plans.definitions.find(({ name }) => name === tool) as ToolDefinition;
  const plan = plans.tools[tool] as ToolPlan;
  const validator = validatorOf(plans.inputs[tool]?.params ?? []) as Validator;
  const calls: ExplainedCall[] = [];
  for (const args of given === null ? exampleArguments(plan, plans.inputs[tool]?.params ?? []) : [given]) {
    const checked = checkArgs(validator, args);
    if (!checked.success) return checked.error.issues.map(({ path, message }) => `${path.map(String).join(".") || "arguments"}: ${message}`).join("; ");
    const { requests, ...queries } = await queriesOf(program, tool, checked.data as object, env);
    calls.push({ arguments: checked.data as object, ...queries, ...(ask === null ? {} : { costs: await ask(requests) }) });
  }
  const { title, description, inputSchema } = definition;
  return {
    tool, kind: plan.kind, origin: `${plans.catalog.file}:${plans.origins[tool]?.line ?? 1}`, title, description, inputSchema, plan,
    callers: callersOf(compiled, tool), guards: certificates.find((certificate) => certificate.tool === tool)?.branches ?? [], tenant: tenantOf(plan), example: given === null, calls,
  };
}

function tenantOf(plan: ToolPlan): Explanation["tenant"] {
  const { tenant } = plan.kind === "pipeline" ? plan.retrieve : plan;
  return tenant === undefined ? null : { from: tenant.from, name: tenant.name, path: tenant.path };
}

function callersOf({ plans, certificates }: Compiled, tool: string): Explanation["callers"] {
  const rbac = plans.settings.security?.rbac;
  if (rbac === undefined) return null;
  const roles = certificates.find((certificate) => certificate.tool === tool)?.callers ?? [];
  return { roles, denied: rbac.deny_tools.includes(tool), claim: rbac.role_claim, default_role: rbac.default_role };
}

async function queriesOf(program: QueryProgram, tool: string, args: object, env: Env): Promise<Omit<ExplainedCall, "arguments" | "costs"> & { readonly requests: readonly RecordedRead[] }> {
  const requests: RecordedRead[] = [];
  try {
    return { native: await recordQueries(program, tool, args, env, [], requests), refused: null, requests };
  } catch (error) {
    if (!isToolError(error) && !isBackendError(error)) throw error;
    return { native: [], refused: error.message, requests: [] };
  }
}
