/** `toolsrv recall`: measures how many of the right rows the searches of a catalog find, and writes it beside the catalog. */
import { resolve } from "node:path";
import type { ToolRecall } from "../../recall/measure.js";
import { openCatalog } from "../../printers/open-catalog.js";
import { unknownTool } from "../../printers/unknown-tool.js";
import { programOf } from "../../program.js";
import { UsageError, type CommandModule, type Io } from "../command.js";
import { EXIT } from "../exit.js";

/** Queries for each tenant where --samples says nothing. */
const SAMPLES = 20;

export const run: CommandModule["run"] = async (invocation, io) => {
  const { args, options } = invocation;
  const samples = numberOf(options["samples"], "--samples", 1, 500) ?? SAMPLES;
  const floor = numberOf(options["min"], "--min", 0, 1);
  const catalog = await openCatalog(invocation, io);
  if (catalog === null) return EXIT.USAGE;
  const shown = args[0] ?? "";
  const program = programOf(catalog.compiled.plans, { base: catalog.base });
  const tool = typeof options["tool"] === "string" ? options["tool"] : null;
  if (tool !== null && !Object.hasOwn(program.plans, tool)) {
    io.stderr.write(unknownTool("recall", shown, tool, Object.keys(program.plans)));
    return EXIT.USAGE;
  }
  const { measureRecall } = await import("../../recall/measure.js");
  const tools = await measureRecall(program, {
    env: catalog.env, samples, now: () => io.host.monotonic(), variable: (name) => catalog.env.get(name) || io.env[name] || undefined, signal: io.signal,
    ...(tool === null ? {} : { tools: [tool] }),
  });
  const certificate = `${JSON.stringify({ version: 1, catalog: catalog.compiled.plans.catalog.hash, samples, tools }, null, 2)}\n`;
  const file = `${shown.replace(/\.ya?ml$/i, "")}.recall.json`;
  // A measurement of one tool says nothing of the others.
  if (tool === null) await io.host.write(resolve(io.cwd, file), certificate);
  if (options["json"] === true) io.stdout.write(certificate);
  else print(tools, tool === null ? file : null, io);
  return exitCode(tools, floor, io);
};

function numberOf(value: unknown, name: string, min: number, max: number): number | null {
  if (value === undefined) return null;
  const number = Number(value);
  if (value === "" || !(number >= min && number <= max)) throw new UsageError(`${name} takes a number from ${min} to ${max}, not '${String(value)}'`);
  return number;
}

function print(tools: readonly ToolRecall[], file: string | null, io: Io): void {
  for (const { tool, k, recall, worst, queries, tenants, selectivity, exact, problem } of tools) {
    const who = tenants === 0 ? "" : ` of ${tenants} tenant${tenants === 1 ? "" : "s"}`;
    const what = recall === null ? `not measured: ${problem ?? ""}` : `recall@${k} ${recall} (worst ${worst}), ${queries} queries${who}, ${percent(selectivity)} of the rows${exact ? ", exact" : ""}`;
    io.stdout.write(`${tool}: ${what}\n`);
  }
  if (tools.length === 0) io.stdout.write("no tool searches by text\n");
  if (file !== null) io.stdout.write(`written to ${file}\n`);
}

function percent(share: number | null): string {
  return `${Math.round((share ?? 1) * 1000) / 10} %`;
}

/** Exit 3 where a tool could not be measured, 1 where one is below --min. */
function exitCode(tools: readonly ToolRecall[], floor: number | null, io: Io): number {
  const below = tools.filter(({ recall }) => floor !== null && recall !== null && recall < floor);
  for (const { tool, recall } of below) io.stderr.write(`toolsrv recall: ${tool} finds ${recall} of the right rows, --min wants ${floor}\n`);
  if (below.length > 0) return EXIT.FINDINGS;
  return floor !== null && tools.some(({ recall }) => recall === null) ? EXIT.LIVE : EXIT.OK;
}
