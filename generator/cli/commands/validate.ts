/** `toolsrv validate`: every problem of a catalog, with its position and a way out. Starts nothing and writes nothing. */
import { dirname, resolve } from "node:path";
import { isBackendError, isToolError } from "../../../runtime/abi/errors.js";
import type { Json } from "../../../runtime/abi/plan.js";
import { fill, missingNames, type Env } from "../../../runtime/abi/references.js";
import { clashOf } from "../../../runtime/abi/projects.js";
import type { Adapter, CollectionInfo, OpenOptions } from "../../../runtime/adapters/adapter.js";
import type { LiveConnection, LiveEmbedding, MissingIndex } from "../../3-check/live.js";
import { judgeRecall, readCertificates } from "../../build/certificates.js";
import { compile, findPackages, readCatalog, readEnvFile, type Compilation, type Compiled } from "../../compile.js";
import { createReporter, distinct, hasErrors, locateAll, type Locatable } from "../../diagnostics.js";
import type { Diagnostic, Pass, Plans, ResolvedConnection, ResolvedEmbedding, SourceFile } from "../../ir.js";
import { missingIndexes, wantedIndexes } from "../../load/indexes.js";
import { FORMATS, printDiagnostics, printDocument, wantsColor, type Format } from "../../printers/print.js";
import { together } from "../../projects.js";
import { openStore } from "../../schema/open-store.js";
import { UsageError, type CommandModule, type Invocation, type Io } from "../command.js";
import { EXIT } from "../exit.js";
import { packageRoot } from "../package.js";

/** One catalog, and what is wrong with it. */
interface Outcome {
  readonly file: string;
  readonly diagnostics: readonly Diagnostic[];
  readonly source: Locatable | null;
  readonly text: string | null;
  readonly tools: number;
  /** What tools/list costs each audience; empty when nothing was compiled. */
  readonly costs: readonly string[];
}

export const run: CommandModule["run"] = async (invocation, io) => {
  const clash = clashOf(invocation.args);
  if (clash !== null) throw new UsageError(clash);
  const format = formatOf(invocation);
  const outcomes = await validate(invocation, io);
  const diagnostics = outcomes.flatMap((outcome) => outcome.diagnostics);
  if (format === "text") {
    for (const { diagnostics: own, source, text } of outcomes) io.stderr.write(printDiagnostics(format, own, { source, text, color: wantsColor(io.stderr, io.env) }));
    if (diagnostics.length > 0) io.stderr.write(`${totals(diagnostics)}\n`);
    const tools = outcomes.reduce((sum, outcome) => sum + outcome.tools, 0);
    const costs = outcomes.flatMap((outcome) => outcome.costs.map((line) => (outcomes.length === 1 ? line : `${outcome.file}: ${line}`)));
    for (const line of [...costs, `${tools} tool(s) compiled`]) io.stderr.write(`${line}\n`);
  } else {
    const located = outcomes.flatMap(({ diagnostics: own, source }) => locateAll(own, source)).sort((a, b) => (a.file < b.file ? -1 : a.file > b.file ? 1 : 0));
    io.stdout.write(printDocument(format, located));
  }
  if (hasErrors(diagnostics)) return EXIT.USAGE;
  const warned = diagnostics.some((diagnostic) => diagnostic.severity === "warning");
  return invocation.options["strict"] === true && warned ? EXIT.FINDINGS : EXIT.OK;
};

function formatOf({ options }: Invocation): Format {
  if (options["json"] === true) return "json";
  const asked = options["format"] ?? "text";
  const format = FORMATS.find((name) => name === asked);
  if (format === undefined) throw new UsageError(`--format is one of ${FORMATS.join(", ")}, not '${String(asked)}'`);
  return format;
}

/** Whether the enterprise profile was asked for. @throws UsageError for a profile that does not exist. */
function enterpriseOf({ options }: Invocation): boolean {
  const { profile } = options;
  if (profile !== undefined && profile !== "enterprise") throw new UsageError(`--profile is enterprise, not '${String(profile)}'`);
  return options["enterprise"] === true || profile === "enterprise";
}

function packsOf({ options }: Invocation): readonly string[] {
  const list = options["policy-builtin"];
  return typeof list === "string" ? list.split(",").map((pack) => pack.trim()).filter((pack) => pack !== "") : [];
}

async function validate(invocation: Invocation, io: Io): Promise<readonly Outcome[]> {
  const enterprise = enterpriseOf(invocation);
  const env = await readValues(invocation, io);
  // A file that can't be read is a diagnostic like any other, so that every format has something to show.
  if (env.value === null) return [unread("", env.diagnostics)];
  const values = env.value;
  const read = await Promise.all(invocation.args.map(async (shown) => ({ shown, ...(await readCatalog(io.host, resolve(io.cwd, shown), shown)) })));
  const compilations = together(await Promise.all(read.map(async ({ value: catalog, diagnostics }): Promise<Compilation> => {
    if (catalog === null) return { value: null, diagnostics, source: null, resolved: null };
    const isInstalled = await findPackages(io.host, [dirname(resolve(io.cwd, catalog.path)), packageRoot]);
    return compile(catalog, { env: values, target: "validate", enterprise, packs: packsOf(invocation), isInstalled });
  })));
  return Promise.all(compilations.map(async (result, index) => {
    const { shown, value: catalog } = read[index] as (typeof read)[number];
    if (catalog === null) return unread(shown, result.diagnostics);
    const [certificate = null] = await readCertificates([{ path: resolve(io.cwd, catalog.path) }], io.host);
    const unshown = result.value === null ? [] : await judgeRecall(result.value, certificate, "warning");
    const offline = [...(index === 0 ? env.diagnostics : []), ...result.diagnostics, ...unshown, ...(await policyDiagnostics(invocation, result, catalog, io))];
    const diagnostics = await withLive(offline, invocation, result, catalog, certificate, values, io);
    const compiled = hasErrors(diagnostics) ? null : result.value;
    return {
      file: shown,
      diagnostics,
      source: result.source,
      text: catalog.text,
      tools: compiled === null ? 0 : Object.keys(compiled.plans.tools).length,
      costs: compiled === null ? [] : costsOf(compiled),
    };
  }));
}

function unread(file: string, diagnostics: readonly Diagnostic[]): Outcome {
  return { file, diagnostics, source: null, text: null, tools: 0, costs: [] };
}

async function readValues({ options }: Invocation, io: Io): Promise<Pass<ReadonlyMap<string, string>>> {
  const envFile = options["env-file"];
  return typeof envFile === "string" ? readEnvFile(io.host, resolve(io.cwd, envFile), envFile) : { value: new Map<string, string>(), diagnostics: [] };
}

/** What a Rego policy says of the catalog; nothing when it could not even be read. */
async function policyDiagnostics({ options }: Invocation, { resolved }: Compilation, catalog: SourceFile, io: Io): Promise<readonly Diagnostic[]> {
  const file = options["policy"];
  if (typeof file !== "string" || resolved === null) return [];
  const policy = await import("../../3-check/policy.js");
  const reporter = createReporter(catalog.path);
  const path = resolve(io.cwd, file);
  if (!(await io.host.exists(path))) {
    reporter.report("POL000", { detail: `there is no policy file '${file}'` }, null, { help: "check the path of --policy" });
    return reporter.diagnostics;
  }
  const answer = await io.host.run("opa", policy.policyArguments(path), { stdin: policy.policyInput(resolved), timeoutMs: policy.POLICY_TIMEOUT_MS, cwd: io.cwd });
  policy.reportPolicy(answer, reporter);
  return reporter.diagnostics;
}

/** The diagnostics with what the stores say; those of the catalog, the profile and the policies stay. */
async function withLive(offline: readonly Diagnostic[], { options }: Invocation, { resolved, value: compiled }: Compilation, catalog: SourceFile, certificate: string | null, env: Env, io: Io): Promise<readonly Diagnostic[]> {
  const embed = options["live-embed"] === true;
  if ((options["live"] !== true && !embed) || resolved === null) return offline;
  const live = await import("../../3-check/live.js");
  const base = dirname(resolve(io.cwd, catalog.path));
  const signal = AbortSignal.any([io.signal, AbortSignal.timeout(LIVE_TIMEOUT_MS)]);
  const asked = live.collectionsToAsk(resolved);
  const connections = await Promise.all(resolved.connections.filter((connection) => missingNames(connection, env).length === 0).map((connection) => askStore(connection, asked.get(connection.name) ?? new Set(), { base, from: { catalog: catalog.path, connection: connection.name } }, signal, env, io)));
  // An answer is found again by the embedding as the catalog has it, its references open.
  const toAsk = embed ? live.embeddingsToAsk(resolved) : live.lockedEmbeddings(resolved, connections);
  const embeddings = await Promise.all(toAsk.flatMap((embedding) => withValues([embedding], env).map(async (filled) => ({ ...(await askEmbedder(filled, base, signal)), embedding }))));
  const { movedSpace } = await import("../../../runtime/embed/space.js");
  const reporter = createReporter(catalog.path);
  live.reportLive(resolved, connections, embeddings, reporter, movedSpace);
  if (compiled !== null) live.reportIndexes(resolved, connections.flatMap((answer) => indexesOf(answer, compiled.plans)), reporter);
  const grown = compiled === null || certificate === null ? [] : (await import("../../recall/certificate.js")).judgeGrowth(compiled, certificate, (name, collection) => connections.find((answer) => answer.name === name)?.collections.get(collection)?.count ?? null);
  return distinct([...live.settle(offline, connections), ...reporter.diagnostics, ...grown]);
}

/** Milliseconds for all stores together. */
const LIVE_TIMEOUT_MS = 20_000;

/** What can be asked, its references filled; missing values were reported by the compiler. */
function withValues<T>(parts: readonly T[], env: Env): readonly T[] {
  return parts.filter((part) => missingNames(part, env).length === 0).map((part) => fill(part, env, new Set()) as T);
}

async function askStore(connection: ResolvedConnection, collections: ReadonlySet<string>, where: OpenOptions, signal: AbortSignal, env: Env, io: Io): Promise<LiveConnection> {
  const { name } = connection;
  const failed = (code: "backend_unreachable" | "VB4003", detail: string): LiveConnection => ({ name, problem: { code, detail }, collections: new Map() });
  let adapter: Adapter | null = null;
  try {
    adapter = await openStore(connection, where, { host: io.host, env, variables: io.env });
    await adapter.health(signal);
    const found: [string, CollectionInfo | null][] = [];
    for (const collection of collections) found.push([collection, await adapter.describe(collection, signal)]);
    return { name, problem: null, collections: new Map(found) };
  } catch (error) {
    if (isToolError(error)) return failed("VB4003", error.message);
    if (!isBackendError(error)) throw error;
    return failed(error.kind === "unreachable" || error.kind === "not_found" ? "backend_unreachable" : "VB4003", error.message);
  } finally {
    await adapter?.close();
  }
}

/** The indexes that the tools need and a store does not have. */
function indexesOf({ name: connection, collections }: LiveConnection, plans: Plans): readonly MissingIndex[] {
  return [...collections].flatMap(([collection, info]) => {
    if (info?.indexing === undefined) return [];
    const missing = missingIndexes(wantedIndexes(plans, connection, collection), info.indexing);
    return missing.map(({ tool, spec }): MissingIndex => ({ tool, connection, collection, fields: spec.map((column) => `'${column}'`).join(" and ") }));
  });
}

async function askEmbedder(embedding: ResolvedEmbedding, base: string, signal: AbortSignal): Promise<LiveEmbedding> {
  const { provider, model, dims, config } = embedding;
  const [{ openEmbedder }, { dimsOfSpace, measureSpace }] = await Promise.all([import("../../../runtime/embed/table.js"), import("../../../runtime/embed/space.js")]);
  const failed = (problem: string): LiveEmbedding => ({ embedding, dims: null, space: null, problem });
  try {
    const plan = { provider, model, ...(dims === null ? {} : { dims }), config: config as { readonly [key: string]: Json } };
    const space = await measureSpace((use) => openEmbedder(plan, { use, anyLength: true, base }), signal);
    return { embedding, dims: dimsOfSpace(space), space, problem: null };
  } catch (error) {
    if (signal.aborted) return failed("the provider did not answer in time");
    if (!isBackendError(error)) throw error;
    return failed(error.message);
  }
}

/** What tools/list takes of a conversation: for everyone, or for each role where roles are checked. */
function costsOf({ plans: { definitions, settings }, certificates }: Compiled): readonly string[] {
  if (definitions.length === 0) return [];
  const roles = settings.security?.rbac?.roles;
  if (roles === undefined) return [`tools/list costs about ${tokensOf(definitions)} tokens`];
  const callers = new Map(certificates.map((certificate) => [certificate.tool, certificate.callers]));
  return Object.keys(roles).map((role) => {
    const seen = definitions.filter(({ name }) => callers.get(name)?.includes(role) === true);
    return `tools/list costs about ${tokensOf(seen)} tokens for role '${role}' (${seen.length} tool${seen.length === 1 ? "" : "s"})`;
  });
}

/** Four characters of JSON are about one token in the tokenizers that hosts use. */
function tokensOf(definitions: Plans["definitions"]): string {
  // Without the tables of languages that `toLocaleString` loads.
  return String(Math.ceil(JSON.stringify(definitions).length / 4)).replace(/\B(?=(?:\d{3})+$)/g, ",");
}

function totals(diagnostics: readonly Diagnostic[]): string {
  const count = (severity: Diagnostic["severity"]): number => diagnostics.filter((diagnostic) => diagnostic.severity === severity).length;
  const parts = [[count("error"), "error"], [count("warning"), "warning"], [count("info"), "note"]] as const;
  return parts.filter(([n]) => n > 0).map(([n, word]) => `${n} ${word}${n === 1 ? "" : "s"}`).join(", ");
}
