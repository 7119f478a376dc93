/** `toolsrv test`: runs one tool once, as its author would see a client see it; or probes the isolation of all tools. */
import type { Program } from "../../../runtime/abi/call.js";
import type { ToolPlan } from "../../../runtime/abi/plan.js";
import { createProgress } from "../../load/progress.js";
import { openCatalog } from "../../printers/open-catalog.js";
import { unknownTool } from "../../printers/unknown-tool.js";
import { programOf } from "../../program.js";
import { UsageError, type CommandModule, type Invocation, type Io } from "../command.js";
import { EXIT } from "../exit.js";

/** Characters of the result that are printed. */
const MAX_OUTPUT = 20_000;

export const run: CommandModule["run"] = async (invocation, io) => {
  const { args: words, options } = invocation;
  if (options["isolation"] === true) return isolation(invocation, io);
  if (words[1] === undefined) throw new UsageError("name the tool to call, or give --isolation");
  if (options["json"] === true) throw new UsageError("--json goes with --isolation; a call's result is JSON as it is");
  const args = readArgs(options["args"]);
  const opened = await openProgram(invocation, io);
  if (opened === null) return EXIT.USAGE;
  const { program, env } = opened;
  const tool = words[1] ?? "";
  const names = Object.keys(program.plans);
  if (!names.includes(tool)) {
    io.stderr.write(unknownTool("test", words[0] ?? "", tool, names));
    return EXIT.USAGE;
  }
  const [{ createEngine }, { isToolError }] = await Promise.all([import("../../../runtime/call/engine.js"), import("../../../runtime/abi/errors.js")]);
  const showPlan = options["show-plan"] === true;
  if (showPlan) printPlan(program, tool, io);
  const engine = createEngine(program, { env, environment: io.env, now: () => io.host.monotonic() });
  try {
    const result = await engine.call(tool, args, { requestId: "test", principal: { id: null, claims: {}, headers: {} }, signal: io.signal, debug: showPlan });
    const text = JSON.stringify(result, null, 2);
    const shown = cut(text);
    io.stdout.write(`${shown}\n`);
    if (shown !== text) io.stderr.write(`toolsrv test: the result has ${text.length.toLocaleString("en")} characters, printed are the first ${shown.length.toLocaleString("en")}; ask for fewer rows or fields\n`);
    return EXIT.OK;
  } catch (error) {
    if (!isToolError(error)) throw error;
    io.stderr.write(`${error.code}: ${error.message}\n`);
    return error.code === "invalid_arguments" ? EXIT.USAGE : EXIT.LIVE;
  } finally {
    await engine.close();
  }
};

/** Exit 1 where a row crossed, or nothing is guarded; 2 where that could not be found out. */
async function isolation(invocation: Invocation, io: Io): Promise<number> {
  const { args: words, options } = invocation;
  if (words[1] !== undefined || options["args"] !== undefined || options["show-plan"] === true) throw new UsageError("--isolation probes every tool with arguments of its own; give no tool, --args or --show-plan");
  const catalog = await openCatalog(invocation, io, "describe");
  if (catalog === null) return EXIT.USAGE;
  const [{ testIsolation }, { isolationText }] = await Promise.all([import("../../isolation/run.js"), import("../../isolation/print.js")]);
  const progress = createProgress(io.stderr, "probing", () => io.host.monotonic());
  let rows = 0;
  const report = await testIsolation({
    plans: catalog.compiled.plans, catalogText: catalog.text, env: catalog.env, signal: io.signal,
    onTool: (tool, done, all) => progress.update((rows += tool.rows), done, all),
  });
  progress.clear();
  io.stdout.write(options["json"] === true ? `${JSON.stringify(report, null, 2)}\n` : isolationText(report, words[0] ?? ""));
  return report.outcome === "holds" ? EXIT.OK : report.outcome === "not probed" ? EXIT.USAGE : EXIT.FINDINGS;
}

/** What the command runs, with the values of its env file; `null` after the errors of its catalog were printed. */
export async function openProgram(invocation: Invocation, io: Io): Promise<{ readonly program: Program; readonly env: ReadonlyMap<string, string> } | null> {
  const catalog = await openCatalog(invocation, io);
  return catalog === null ? null : { program: programOf(catalog.compiled.plans, { base: catalog.base }), env: catalog.env };
}

function readArgs(text: unknown): unknown {
  if (typeof text !== "string") return {};
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new UsageError(`--args is not JSON: ${(error as SyntaxError).message}`);
  }
}

/** What the model sees of the tool, then a line about what runs. */
function printPlan({ tools, plans }: Program, tool: string, io: Io): void {
  const definition = tools.find(({ name }) => name === tool);
  const plan = Object.hasOwn(plans, tool) ? plans[tool] : undefined;
  if (definition === undefined || plan === undefined) return;
  const { name, description, inputSchema } = definition;
  io.stderr.write(`${JSON.stringify({ name, description, inputSchema }, null, 2)}\n${JSON.stringify({ kind: plan.kind, collection: collectionOf(plan), mode: modeOf(plan) })}\n`);
}

function collectionOf(plan: ToolPlan): string {
  const collection = plan.kind === "pipeline" ? plan.retrieve.collection : plan.kind === "meta" ? "*" : plan.collection;
  return typeof collection === "string" ? collection : `(argument ${collection.arg})`;
}

function modeOf(plan: ToolPlan): string {
  const query = plan.kind === "pipeline" ? plan.retrieve.query : "query" in plan ? plan.query : undefined;
  return query?.mode ?? "none";
}

/** Cut between characters, not within one. */
function cut(text: string): string {
  if (text.length <= MAX_OUTPUT) return text;
  const last = text.charCodeAt(MAX_OUTPUT - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? MAX_OUTPUT - 1 : MAX_OUTPUT);
}
