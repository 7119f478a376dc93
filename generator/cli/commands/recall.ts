/** `toolsrv recall`: measures how many of the right rows the searches of a catalog find, and writes it beside the catalog. */
import { resolve } from "node:path";
import type { Certificate, CertifiedRecall } from "../../recall/certificate.js";
import { openCatalog, type OpenedCatalog } from "../../printers/open-catalog.js";
import { unknownTool } from "../../printers/unknown-tool.js";
import { programOf } from "../../program.js";
import { UsageError, type CommandModule, type Io } from "../command.js";
import { EXIT } from "../exit.js";

/** Queries for each tenant where --samples says nothing. */
const SAMPLES = 20;

export const run: CommandModule["run"] = async (invocation, io) => {
  const { args, options } = invocation;
  const samples = numberOf(options["samples"], "--samples", 1, 500) ?? SAMPLES;
  const least = numberOf(options["min"], "--min", 0, 1);
  const catalog = await openCatalog(invocation, io);
  if (catalog === null) return EXIT.USAGE;
  const shown = args[0] ?? "";
  const { plans } = catalog.compiled;
  const tool = typeof options["tool"] === "string" ? options["tool"] : null;
  if (tool !== null && !Object.hasOwn(plans.tools, tool)) {
    io.stderr.write(unknownTool("recall", shown, tool, Object.keys(plans.tools)));
    return EXIT.USAGE;
  }
  const measured = await measure(catalog, tool, samples, io);
  const { certificatePath, certificateText, readCertificate, withMeasured } = await import("../../recall/certificate.js");
  const file = certificatePath(shown);
  // Of one tool, the measurement takes its place among those of the others.
  const before = tool === null ? null : await readBefore(resolve(io.cwd, file), readCertificate, io);
  const text = certificateText(withMeasured(before, measured, Object.keys(plans.tools)));
  await io.host.replace(resolve(io.cwd, file), text, 0o644);
  if (options["json"] === true) io.stdout.write(text);
  else print(measured, file, io);
  return exitCode(measured, floorsOf(catalog, least), io);
};

function numberOf(value: unknown, name: string, min: number, max: number): number | null {
  if (value === undefined) return null;
  const number = Number(value);
  if (value === "" || !(number >= min && number <= max)) throw new UsageError(`${name} takes a number from ${min} to ${max}, not '${String(value)}'`);
  return number;
}

async function measure({ compiled: { plans }, base, env }: OpenedCatalog, tool: string | null, samples: number, io: Io): Promise<readonly CertifiedRecall[]> {
  const [{ measureRecall }, { searchDigest, searchOf }] = await Promise.all([import("../../recall/measure.js"), import("../../recall/search-of.js")]);
  const results = await measureRecall(programOf(plans, { base }), {
    env, samples, now: () => io.host.monotonic(), variable: (name) => env.get(name) || io.env[name] || undefined, signal: io.signal,
    ...(tool === null ? {} : { tools: [tool] }),
  });
  return results.map((result) => {
    const plan = plans.tools[result.tool];
    const search = plan === undefined ? null : searchOf(plan);
    return { ...result, search: search === null ? "" : searchDigest(search, plans), samples };
  });
}

/** The certificate as it was; one that cannot be used is replaced. */
async function readBefore(path: string, read: (text: string) => Certificate | string, io: Io): Promise<Certificate | null> {
  const bytes = await io.host.read(path);
  const certificate = bytes === null ? null : read(new TextDecoder().decode(bytes));
  return typeof certificate === "string" ? null : certificate;
}

function print(tools: readonly CertifiedRecall[], file: string, io: Io): void {
  for (const { tool, k, recall, worst, lowest, queries, tenants, selectivity, exact, problem } of tools) {
    const who = tenants === 0 ? "" : ` of ${tenants} tenant${tenants === 1 ? "" : "s"}`;
    const least = tenants < 2 || lowest === recall ? "" : `, ${lowest} for one tenant`;
    const what = recall === null ? `not measured: ${problem ?? ""}` : `recall@${k} ${recall} (worst ${worst}${least}), ${queries} queries${who}, ${percent(selectivity)} of the rows${exact ? ", exact" : ""}`;
    io.stdout.write(`${tool}: ${what}\n`);
  }
  if (tools.length === 0) io.stdout.write("no tool searches by text\n");
  io.stdout.write(`written to ${file}\n`);
}

function percent(share: number | null): string {
  return `${Math.round((share ?? 1) * 1000) / 10} %`;
}

/** What each tool must reach: its own min_recall and --min, the higher one. */
function floorsOf({ compiled: { checked } }: OpenedCatalog, least: number | null): (tool: string) => number | null {
  const own = new Map(checked.tools.map(({ name, minRecall }) => [name, minRecall]));
  return (tool) => {
    const floors = [own.get(tool) ?? null, least].filter((floor) => floor !== null);
    return floors.length === 0 ? null : Math.max(...floors);
  };
}

/** Exit 1 where a tool is below its floor, 3 where one with a floor could not be measured. */
function exitCode(tools: readonly CertifiedRecall[], floorOf: (tool: string) => number | null, io: Io): number {
  const demanding = tools.flatMap(({ tool, lowest }) => {
    const floor = floorOf(tool);
    return floor === null ? [] : [{ tool, lowest, floor }];
  });
  const below = demanding.filter(({ lowest, floor }) => lowest !== null && lowest < floor);
  for (const { tool, lowest, floor } of below) io.stderr.write(`toolsrv recall: ${tool} finds ${lowest} of the right rows, and at least ${floor} is asked for\n`);
  if (below.length > 0) return EXIT.FINDINGS;
  return demanding.some(({ lowest }) => lowest === null) ? EXIT.LIVE : EXIT.OK;
}
