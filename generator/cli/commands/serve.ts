/**
 * `toolsrv serve`: compiles catalogs in memory and hands the same programs to the runtime that `out/server.js` would
 * hand it. From there on the two are one.
 */
import { basename, dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Program } from "../../../runtime/abi/call.js";
import { clashOf, projectName, type Project } from "../../../runtime/abi/projects.js";
import type { ProgramSource } from "../../../runtime/serve/reloadable-catalogs.js";
import type { Twin } from "../../../runtime/serve/twin.js";
import { systemProblem } from "../../../runtime/base/system-error.js";
import { judgeRecall, readCertificates } from "../../build/certificates.js";
import { compile, findPackages, readCatalog, readEnvFile, type Compilation, type Compiled, type CompileOptions } from "../../compile.js";
import type { Locatable } from "../../diagnostics.js";
import { authoringTools } from "../../drafts/authoring.js";
import { DraftsProblem } from "../../drafts/drafts-file.js";
import { compiledBase } from "../../drafts/examine.js";
import { draftsPath, expireDrafts } from "../../drafts/store.js";
import { visible } from "../../drafts/untrusted.js";
import type { Diagnostic, SourceFile } from "../../ir.js";
import { printDiagnostics, wantsColor } from "../../printers/print.js";
import { programOf } from "../../program.js";
import { together } from "../../projects.js";
import { withEnvironment } from "../../../runtime/config/env-file.js";
import { UsageError, type CommandModule, type Invocation, type Io } from "../command.js";
import { EXIT } from "../exit.js";
import { packageRoot } from "../package.js";

/** The programs, or `null` after the errors of their catalogs were printed. */
export interface Loaded {
  readonly projects: readonly Project[] | null;
  readonly env: ReadonlyMap<string, string>;
}

export const run: CommandModule["run"] = async (invocation, io) => {
  const clash = clashOf(invocation.args);
  if (clash !== null) throw new UsageError(clash);
  // Flags first: a mistake in them is reported before any work is done.
  const { serveOptions } = await import("../../../runtime/config/serve-options.js");
  const { StartError } = await import("../../../runtime/config/exit.js");
  const { processIo } = await import("../../../runtime/serve/io.js");
  const { serveWith, startFailure } = await import("../../../runtime/serve/main.js");
  const needless = ["schema", "scenarios", "seed", "fault"].find((name) => invocation.options[name] !== undefined);
  if (needless !== undefined && invocation.options["twin"] !== true) throw new UsageError(`--${needless} goes with --twin`);
  try {
    const options = serveOptions(invocation.options);
    const printed: Printed = new Map();
    const { projects, env } = await load(invocation, io, printed);
    if (projects === null) return EXIT.USAGE;
    const source = options.watch ? await sourceOf(invocation, io, printed) : undefined;
    return await serveWith(projects, options, env, processIo(io.signal), source);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (error instanceof StartError && error.exitCode === EXIT.USAGE) throw new UsageError(error.message);
    return startFailure(error, io.stderr);
  }
};

/** The catalogs as something that can be watched and loaded again. */
async function sourceOf(invocation: Invocation, io: Io, printed: Printed): Promise<ProgramSource> {
  const { watchFiles } = await import("../../../runtime/serve/watch.js");
  const paths = invocation.args.map((shown) => resolve(io.cwd, shown));
  const name = paths.map((path) => basename(path)).join(", ");
  return {
    name,
    watch: (onChange) => watchFiles([...paths, draftsPath(io.cwd)], onChange),
    load: async () => ((await mayRead(paths, invocation.args, io)) ? (await load(invocation, io, printed)).projects : null),
  };
}

/** A pipe may be read once, at the start. Reading one where a saved file was would wait for ever, and every later save with it. */
async function mayRead(paths: readonly string[], shown: readonly string[], { host, stderr }: Io): Promise<boolean> {
  const odd = await Promise.all(paths.map(async (path) => (await host.exists(path)) && (await host.size(path)) === null));
  for (const [index, isOdd] of odd.entries()) if (isOdd) stderr.write(`toolsrv serve: ${shown[index]} is not a file any more\n`);
  return !odd.includes(true);
}

/** What the command serves: the programs of its catalogs, and the values of its env file. */
export async function load({ args, options }: Invocation, io: Io, printed: Printed = new Map()): Promise<Loaded> {
  const envFile = options["env-file"];
  const [catalogs, values] = await Promise.all([
    Promise.all(args.map((shown) => readCatalog(io.host, resolve(io.cwd, shown), shown))),
    typeof envFile === "string" ? readEnvFile(io.host, resolve(io.cwd, envFile), envFile) : { value: new Map<string, string>(), diagnostics: [] },
  ]);
  const written = values.value ?? new Map<string, string>();
  const env = options["embedded"] === true ? withEnvironment(written, io.env) : written;
  const read = catalogs.flatMap(({ value }) => value ?? []);
  if (read.length < catalogs.length || values.value === null) {
    print([...catalogs.flatMap(({ diagnostics }) => diagnostics), ...values.diagnostics], null, null, io, printed);
    return { projects: null, env };
  }
  print(values.diagnostics, null, null, io, printed);
  await expire(io);
  if (options["twin"] === true) return loadTwins(read, { args, options }, env, io, printed);
  const ways = await Promise.all(read.map(async (catalog): Promise<CompileOptions> => ({ env, isInstalled: await findPackages(io.host, [dirname(resolve(io.cwd, catalog.path)), packageRoot]) })));
  const compilations = together(read.map((catalog, index) => compile(catalog, ways[index])));
  const certificates = await readCertificates(read.map(({ path }) => ({ path: resolve(io.cwd, path) })), io.host);
  for (const [index, { value, diagnostics, source }] of compilations.entries()) {
    const unshown = value === null ? [] : await judgeRecall(value, certificates[index] ?? null, "warning");
    print([...diagnostics, ...unshown], source, read[index]?.text ?? null, io, printed);
  }
  const skills = await Promise.all(compilations.map(({ value }) => skillOf(value, io)));
  const projects = compilations.flatMap(({ value, diagnostics }, index): Project[] => {
    const catalog = read[index];
    if (value === null || catalog === undefined) return [];
    const mayDefine = mayAuthor(value, catalog.path, options["enable-define"] === true);
    const extra = mayDefine ? authoringTools({ host: io.host, cwd: io.cwd, base: () => ({ ...compiledBase(catalog, ways[index] ?? {}, value, diagnostics), elsewhere: toolsOf(compilations.toSpliced(index, 1)) }) }) : undefined;
    return [{ name: projectName(catalog.path), program: programOf(value.plans, { base: pathToFileURL(`${dirname(resolve(io.cwd, catalog.path))}/`), extra, skill: skills[index], certificates: value.certificates }) }];
  });
  return { projects: projects.length === args.length ? projects : null, env };
}

/** The twins of the catalogs: compiled as anything is, but that no store, package or value of a reference need be there. */
async function loadTwins(read: readonly SourceFile[], invocation: Invocation, env: ReadonlyMap<string, string>, io: Io, printed: Printed): Promise<Loaded> {
  if (invocation.options["enable-define"] === true) throw new UsageError("--twin has no store to describe; leave out --enable-define");
  const [{ openTwin, readTwinParts }, { twinProjects }] = await Promise.all([import("../../twin/open.js"), import("../../../runtime/serve/twin.js")]);
  const parts = await readTwinParts(invocation, io);
  const compilations = together(read.map((catalog) => compile(catalog, { target: "describe" })));
  for (const [index, { diagnostics, source }] of compilations.entries()) print(diagnostics, source, read[index]?.text ?? null, io, printed);
  const twins: Twin[] = [];
  for (const [index, { value }] of compilations.entries()) {
    const { path } = read[index] as SourceFile;
    const data = value === null ? null : await openTwin({ compiled: value, env, shown: path, parts }, invocation.options["scenarios"], io);
    if (value === null || data === null) return { projects: null, env };
    twins.push({ name: projectName(path), program: programOf(value.plans, { base: pathToFileURL(`${dirname(resolve(io.cwd, path))}/`), skill: await skillOf(value, io) }), data });
  }
  return twinProjects(twins, invocation.options, env);
}

/** The agent skill as a build prints it; most catalogs ask for none, and load no templates. */
async function skillOf(compiled: Compiled | null, { host }: Io): Promise<Program["skill"]> {
  if (compiled?.plans.settings.skill === undefined) return undefined;
  const [{ servedSkill }, { loadTemplates }] = await Promise.all([import("../../5-emit/skill.js"), import("../../5-emit/templates.js")]);
  return servedSkill(compiled.plans, await loadTemplates(host));
}

/** The tools of compiled catalogs, each with the file that has it. */
function toolsOf(compilations: readonly Compilation[]): ReadonlyMap<string, string> {
  return new Map(compilations.flatMap(({ value }) => (value === null ? [] : Object.keys(value.plans.tools).map((tool) => [tool, value.plans.catalog.file] as const))));
}

/**
 * Whether describe_collection and define_tool are offered: where the flag or the catalog says so, and hardening lets it.
 * @throws UsageError for the flag beside document access, which the catalog itself may not combine either
 */
function mayAuthor({ plans, checked }: Compiled, file: string, flag: boolean): boolean {
  const { authoring, hardening } = plans.settings;
  if ((!flag && authoring?.define_tool !== true) || hardening?.["disable_authoring"] === true) return false;
  if (checked.documentAcl !== null) throw new UsageError(`--enable-define: ${file} has security.document_acl, and who proposes tools learns of fields without it; serve it without --enable-define`);
  return true;
}

/** Old drafts expire. A drafts file that cannot be used is reported and keeps no catalog from being served. */
async function expire({ host, cwd, stderr }: Io): Promise<void> {
  try {
    const count = await expireDrafts(host, cwd);
    if (count > 0) stderr.write(`${count} draft${count === 1 ? "" : "s"} expired after 30 days\n`);
  } catch (error) {
    const problem = error instanceof DraftsProblem ? visible(error.message) : systemProblem(error);
    if (problem === null) throw error;
    stderr.write(`toolsrv serve: drafts: ${problem}\n`);
  }
}

/** What was printed last about each file: a reload repeats no warning that has not changed. */
type Printed = Map<string, string>;

function print(diagnostics: readonly Diagnostic[], source: Locatable | null, text: string | null, io: Io, printed: Printed): void {
  const [first] = diagnostics;
  if (first === undefined) return;
  const output = printDiagnostics("text", diagnostics, { source, text, color: wantsColor(io.stderr, io.env) });
  const isNew = printed.get(first.file) !== output;
  printed.set(first.file, output);
  if (isNew || diagnostics.some(({ severity }) => severity === "error")) io.stderr.write(output);
}
