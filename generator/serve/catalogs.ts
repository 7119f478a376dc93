/**
 * Catalogs as programs that can be served: compiled in memory, they are the same programs that `out/server.js` hands to
 * the runtime. This room serves catalogs for `toolsrv serve` and `toolsrv dev` and knows no other command.
 */
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Program } from "../../runtime/abi/call.js";
import type { ExplainedTools } from "../../runtime/abi/explained.js";
import { projectName, type Project } from "../../runtime/abi/projects.js";
import type { Twin } from "../../runtime/serve/twin.js";
import { judgeRecall, readCertificates } from "../build/certificates.js";
import { compile, findPackages, readCatalog, readEnvFile, type Compilation, type Compiled, type CompileOptions } from "../compile.js";
import type { Locatable } from "../diagnostics.js";
import { authoringTools } from "../drafts/authoring.js";
import { compiledBase } from "../drafts/examine.js";
import type { Diagnostic, SourceFile } from "../ir.js";
import { printDiagnostics, wantsColor } from "../printers/print.js";
import { programOf, queryProgramOf } from "../program.js";
import { together } from "../projects.js";
import { withEnvironment } from "../../runtime/config/env-file.js";
import { UsageError, type Invocation, type Io } from "../cli/command.js";
import { packageRoot } from "../cli/package.js";
import { expire } from "./expiry.js";

/** The programs, or `null` after the errors of their catalogs were printed. */
export interface Loaded {
  readonly projects: readonly Project[] | null;
  /** What they were made from, in the same order; empty where there are none. */
  readonly compiled: readonly Compiled[];
  readonly env: ReadonlyMap<string, string>;
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
    return { projects: null, compiled: [], env };
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
  const skills = await Promise.all(compilations.map(({ value }) => skillOf(value)));
  const explained = await Promise.all(compilations.map(({ value }) => explainedOf(value, options)));
  const projects = compilations.flatMap(({ value, diagnostics }, index): Project[] => {
    const catalog = read[index];
    if (value === null || catalog === undefined) return [];
    const mayDefine = mayAuthor(value, catalog.path, options["enable-define"] === true);
    const extra = mayDefine ? authoringTools({ host: io.host, cwd: io.cwd, base: () => ({ ...compiledBase(catalog, ways[index] ?? {}, value, diagnostics), elsewhere: toolsOf(compilations.toSpliced(index, 1)) }) }) : undefined;
    return [{ name: projectName(catalog.path), program: programOf(value.plans, { base: pathToFileURL(`${dirname(resolve(io.cwd, catalog.path))}/`), extra, skill: skills[index], explained: explained[index], certificates: value.certificates }) }];
  });
  return projects.length === args.length ? { projects, compiled: compilations.flatMap(({ value }) => value ?? []), env } : { projects: null, compiled: [], env };
}

/** The twins of the catalogs: compiled as anything is, but that no store, package or value of a reference need be there. */
async function loadTwins(read: readonly SourceFile[], invocation: Invocation, env: ReadonlyMap<string, string>, io: Io, printed: Printed): Promise<Loaded> {
  if (invocation.options["enable-define"] === true) throw new UsageError("--twin has no store to describe; leave out --enable-define");
  const [{ openTwin, readTwinParts }, { twinProjects }] = await Promise.all([import("../twin/open.js"), import("../../runtime/serve/twin.js")]);
  const parts = await readTwinParts(invocation, io);
  const compilations = together(read.map((catalog) => compile(catalog, { target: "describe" })));
  for (const [index, { diagnostics, source }] of compilations.entries()) print(diagnostics, source, read[index]?.text ?? null, io, printed);
  const twins: Twin[] = [];
  for (const [index, { value }] of compilations.entries()) {
    const { path } = read[index] as SourceFile;
    const data = value === null ? null : await openTwin({ compiled: value, env, shown: path, parts }, invocation.options["scenarios"], io);
    if (value === null || data === null) return { projects: null, compiled: [], env };
    twins.push({ name: projectName(path), program: programOf(value.plans, { base: pathToFileURL(`${dirname(resolve(io.cwd, path))}/`), skill: await skillOf(value), explained: await explainedOf(value, invocation.options) }), data });
  }
  return { ...(await twinProjects(twins, invocation.options, env)), compiled: compilations.flatMap(({ value }) => value ?? []) };
}

/** The agent skill as a build prints it; most catalogs ask for none, and load no templates. */
async function skillOf(compiled: Compiled | null): Promise<Program["skill"]> {
  if (compiled?.plans.settings.skill === undefined) return undefined;
  const [{ servedSkill }, { createRender }] = await Promise.all([import("../5-emit/skill.js"), import("../5-emit/templates.js")]);
  return servedSkill(compiled.plans, createRender());
}

/** What the trace service shows of the tools; made only for a server that records its calls. */
async function explainedOf(compiled: Compiled | null, { trace }: Invocation["options"]): Promise<ExplainedTools | undefined> {
  if (compiled === null || trace === undefined || trace === false) return undefined;
  const { explainedTools } = await import("../explain/traced.js");
  return explainedTools(compiled.plans, compiled.certificates, queryProgramOf);
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

/** What was printed last about each file: a reload repeats no warning that has not changed. */
export type Printed = Map<string, string>;

function print(diagnostics: readonly Diagnostic[], source: Locatable | null, text: string | null, io: Io, printed: Printed): void {
  const [first] = diagnostics;
  if (first === undefined) return;
  const output = printDiagnostics("text", diagnostics, { source, text, color: wantsColor(io.stderr, io.env) });
  const isNew = printed.get(first.file) !== output;
  printed.set(first.file, output);
  if (isNew || diagnostics.some(({ severity }) => severity === "error")) io.stderr.write(output);
}
