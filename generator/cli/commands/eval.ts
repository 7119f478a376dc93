/** `toolsrv eval`: runs scenarios as an application would, or proposes some. Never edits the catalog or the scenarios. */
import { dirname, extname, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { isBackendError } from "../../../runtime/abi/errors.js";
import type { Row } from "../../../runtime/abi/filter.js";
import type { Adapter } from "../../../runtime/adapters/adapter.js";
import type { Connection } from "../../connect.js";
import { visible } from "../../drafts/untrusted.js";
import { baselineText, changedTools, changeOf, readBaseline, withBaseline, type Baseline } from "../../eval/baseline.js";
import { connectForEval } from "../../eval/connect.js";
import { openModel } from "../../eval/open-model.js";
import { openScenarios } from "../../eval/open-scenarios.js";
import { refuseForeign, writeProposals } from "../../eval/propose-file.js";
import { evalReport, junitText, tableText } from "../../eval/report.js";
import { runScenarios } from "../../eval/run.js";
import { createProgress } from "../../load/progress.js";
import { openCatalog, type OpenedCatalog } from "../../printers/open-catalog.js";
import { UsageError, type CommandModule, type Invocation, type Io } from "../command.js";
import { EXIT } from "../exit.js";
import { requireExperimental } from "../experimental.js";
import { refuseOverInputs, writeOutput } from "../write-output.js";

export const run: CommandModule["run"] = async (invocation, io) => {
  const { args, options } = invocation;
  requireExperimental(invocation, "eval");
  const proposes = options["generate"] === true || options["confusion"] === true;
  if (options["generate"] === true && options["confusion"] === true) throw new UsageError("--generate and --confusion write two files; run them one after the other");
  if (proposes && args[1] !== undefined) throw new UsageError("--generate and --confusion propose scenarios; they run none: give no scenarios file");
  if (!proposes && args[1] === undefined) throw new UsageError("missing SCENARIOS.yaml; --generate proposes one");
  await refuseOverInputs([options["out"], options["junit"], options["baseline"]], args, io);
  const opened = await openCatalog(invocation, io);
  if (opened === null) return EXIT.USAGE;
  if (options["generate"] === true) return generate(invocation, opened, io);
  return proposes ? confusion(invocation, opened, io) : evaluate(invocation, opened, io);
};

async function evaluate(invocation: Invocation, opened: OpenedCatalog, io: Io): Promise<number> {
  const { args: [catalog = "", file = ""], options } = invocation;
  const scenarios = await openScenarios(file, Object.keys(opened.compiled.plans.tools), catalog, io);
  if (scenarios === null) return EXIT.USAGE;
  const { plans } = opened.compiled;
  const baselineFile = typeof options["baseline"] === "string" ? options["baseline"] : `${file.slice(0, file.length - extname(file).length)}.baseline.json`;
  const baseline = await openBaseline(baselineFile, typeof options["baseline"] === "string" && options["update"] !== true, io);
  const model = await openModel(invocation, { plans, base: opened.base, env: opened.env }, io);
  const choose = model === null ? null : options["ask-all"] === true ? Object.assign(model.choose, { reused: () => 0 }) : withBaseline(model.choose, baseline, model.audience);
  const progress = createProgress(io.stderr, "running", () => io.host.monotonic(), "scenarios");
  const connection = await connectTo(opened, io);
  const results = await runScenarios(scenarios, {
    call: connection.call, choose, now: () => io.host.monotonic(), signal: io.signal, onDone: (done, all) => progress.update(done, done, all),
  }).finally(async () => {
    progress.clear();
    await connection.close();
  });
  const judged = results.map((result) => ({ ...result, changed: changeOf(result, baseline) }));
  const report = evalReport(file, judged);
  const out = typeof options["out"] === "string" ? options["out"] : "toolsrv-eval.json";
  await writeOutput(out, `${JSON.stringify(report, null, 2)}\n`, io);
  if (typeof options["junit"] === "string") await writeOutput(options["junit"], junitText(report, judged), io);
  if (options["update"] === true) await writeOutput(baselineFile, baselineText(results, plans.definitions, model?.audience ?? null, baseline), io);
  io.stdout.write(tableText(report, judged));
  const moved = changedTools(plans.definitions, baseline);
  if (moved.length > 0) io.stderr.write(`changed since the baseline: ${moved.join(", ")}\n`);
  if (choose !== null && choose.reused() > 0) io.stderr.write(`${choose.reused()} choice(s) of the baseline still hold and were not asked for again\n`);
  io.stderr.write(`wrote ${[out, ...(typeof options["junit"] === "string" ? [options["junit"]] : []), ...(options["update"] === true ? [baselineFile] : [])].join(", ")}\n`);
  const changed = options["strict"] === true && options["update"] !== true && judged.some((result) => result.changed !== null);
  return report.failed > 0 || changed ? EXIT.FINDINGS : EXIT.OK;
}

/** Null where there is none yet; one that was named must be there. */
async function openBaseline(file: string, isNeeded: boolean, io: Io): Promise<Baseline | null> {
  const bytes = await io.host.read(resolve(io.cwd, file));
  if (bytes === null && isNeeded) throw new UsageError(`cannot read '${file}': there is no such file; --update writes it`);
  if (bytes === null) return null;
  const read = readBaseline(Buffer.from(bytes).toString("utf8"));
  if ("problem" in read) throw new UsageError(`'${file}' is no baseline: ${read.problem}; remove it and run with --update`);
  return read;
}

function connectTo({ compiled: { plans }, base, env }: OpenedCatalog, io: Io): Promise<Connection> {
  return connectForEval(plans, { base, env, environment: io.env, now: () => io.host.monotonic() });
}

async function confusion({ options }: Invocation, { compiled: { plans: { definitions } } }: OpenedCatalog, io: Io): Promise<number> {
  const out = typeof options["out"] === "string" ? options["out"] : "scenarios.confusion.yaml";
  await refuseForeign(out, io);
  const [{ confusedPairs, confusionScenarios }, { openEmbedder }, { SMALLEST_EMBEDDING }] = await Promise.all([import("../../eval/confusion.js"), import("../../../runtime/embed/table.js"), import("../../../runtime/embed/descriptors.js")]);
  const embedder = await openEmbedder({ ...SMALLEST_EMBEDDING, config: {} });
  const progress = createProgress(io.stderr, "comparing", () => io.host.monotonic(), "tools");
  const pairs = await confusedPairs(definitions, (texts) => embedder.embed(texts, io.signal), (done) => progress.update(done, done, definitions.length));
  progress.clear();
  for (const { a, b, likeness, parts, only } of pairs) {
    const alike = only.a.length + only.b.length === 0 ? "; no word of their descriptions tells them apart" : "";
    io.stdout.write(`${likeness.toFixed(2)}  ${a} / ${b}  (name ${parts.name.toFixed(2)}, description ${parts.description.toFixed(2)}, parameters ${parts.parameters.toFixed(2)})${alike}\n`);
  }
  const scenarios = confusionScenarios(pairs, definitions);
  if (scenarios.length === 0) {
    io.stderr.write(pairs.length === 0 ? `no two of ${definitions.length} tool(s) are nearly alike\n` : "nothing was written: no words tell these tools apart\n");
    return EXIT.OK;
  }
  await writeProposals(out, "--confusion", scenarios, [], io);
  io.stderr.write(`wrote ${out}: ${scenarios.length} scenario(s) of ${pairs.length} pair(s); run them with --model\n`);
  return EXIT.OK;
}

async function generate({ args: [catalog = ""], options }: Invocation, opened: OpenedCatalog, io: Io): Promise<number> {
  const out = typeof options["out"] === "string" ? options["out"] : "scenarios.generated.yaml";
  await refuseForeign(out, io);
  const [{ proposeScenarios }, { ANSWER_MS, answered, openStore, storeProblem }] = await Promise.all([import("../../eval/generate.js"), import("../../schema/open-store.js")]);
  const { checked } = opened.compiled;
  const stores = new Map<string, Promise<Adapter>>();
  const sample = async (name: string, collection: string): Promise<readonly Row[]> => {
    const connection = checked.connections.find((one) => one.name === name);
    if (connection === undefined) return [];
    const where = { base: dirname(fileURLToPath(new URL("x", opened.base))), from: { catalog, connection: name } };
    const store = stores.get(name) ?? openStore(connection, where, { host: io.host, env: opened.env, variables: io.env });
    stores.set(name, store);
    const open = await store;
    return answered((signal) => open.sample(collection, SAMPLE_ROWS, signal), connection.backend, ANSWER_MS, io.signal);
  };
  const progress = createProgress(io.stderr, "calling", () => io.host.monotonic(), "tools");
  const connection = await connectTo(opened, io);
  try {
    const { scenarios, left } = await proposeScenarios(checked, { call: connection.call, sample, signal: io.signal, onTool: (done, all) => progress.update(done, done, all) });
    progress.clear();
    const notes = left.map(({ tool, why }) => `${tool}: ${why}`);
    for (const note of notes) io.stderr.write(`left out: ${visible(note)}\n`);
    if (scenarios.length > 0) await writeProposals(out, "--generate", scenarios, notes.map((note) => `Left out: ${note}`), io);
    io.stderr.write(scenarios.length === 0 ? "nothing was written: no tool could be called\n" : `wrote ${out}: ${scenarios.length} scenario(s)\n`);
    return EXIT.OK;
  } catch (error) {
    const problem = storeProblem(error);
    if (problem === null || !isBackendError(error)) throw error;
    progress.clear();
    io.stderr.write(`toolsrv eval: ${problem}\n`);
    return EXIT.LIVE;
  } finally {
    await connection.close();
    for (const store of stores.values()) await store.then((open) => open.close(), () => undefined);
  }
}

/** Rows that scenarios are made from. */
const SAMPLE_ROWS = 200;
