/** `toolsrv build`: catalogs → reviewable TypeScript and a server. Everything heavy is imported when it is needed. */
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import { clashOf, projectName } from "../../../runtime/abi/projects.js";
import { systemProblem } from "../../../runtime/base/system-error.js";
import type { CommandModule, Invocation, Io } from "../command.js";
import { UsageError } from "../command.js";
import { EXIT } from "../exit.js";
import { packageRoot, packageVersion } from "../package.js";
import type { Compilation, Compiled } from "../../compile.js";
import type { Locatable } from "../../diagnostics.js";
import type { Host } from "../../host.js";
import type { Diagnostic, LocatedDiagnostic } from "../../ir.js";
import type { BuildInputs, Outcome } from "../../5-emit/build-cache.js";
import type { TraceInput } from "../../5-emit/trace.js";
import type { PrintedCatalog, Unproven } from "../../proof/printed.js";
import type { Emission, FileReport, WrittenFile } from "../../5-emit/write.js";

interface Order {
  /** As the user wrote them. */
  readonly catalogs: readonly string[];
  readonly out: string;
  readonly emit: Emission | "ir";
  readonly check: boolean;
  readonly typecheck: boolean;
  readonly trace: boolean;
  readonly json: boolean;
}

/** What `--json` prints: always one object, whatever the end. */
interface Report {
  readonly ok: boolean;
  /** The first catalog; `catalogs` has all, where there are several. */
  readonly catalog: string;
  readonly catalogs?: readonly string[];
  readonly out: string;
  readonly diagnostics: readonly LocatedDiagnostic[];
  readonly files: readonly FileReport[];
  /** Files that differ from what a build would write, with `--check`. */
  readonly drift: readonly string[];
  /** Paths in the output folder that imports of the build can reach and that are not of it. */
  readonly foreign: readonly string[];
  /** What the plans in the output folder do not show, with `--check`. */
  readonly unproven: readonly Pick<Unproven, "path" | "tool" | "branch" | "guard">[];
  readonly duration_ms: number;
}

function readOrder({ args, options }: Invocation): Order {
  const clash = clashOf(args);
  if (clash !== null) throw new UsageError(clash);
  const emit = options["emit"];
  if (emit !== undefined && emit !== "ts" && emit !== "js" && emit !== "ir") throw new UsageError(`--emit takes ts, js or ir, not '${String(emit)}'`);
  const check = options["check"] === true;
  if (check && emit !== undefined) throw new UsageError("--check compares the whole output; it does not go with --emit");
  return {
    catalogs: args.length === 0 ? ["tools.yaml"] : args,
    out: typeof options["out"] === "string" ? options["out"] : "out",
    emit: emit ?? "all",
    check,
    typecheck: options["typecheck"] === true,
    trace: options["trace"] !== false,
    json: options["json"] === true,
  };
}

function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** The output folder is replaced as a whole, so it must be one of its own. */
async function outputFolder(order: Order, catalogs: readonly Catalog[], io: Io): Promise<string> {
  const out = await io.host.realPath(resolve(io.cwd, order.out));
  const inside = (await Promise.all([io.cwd, ...catalogs.map(({ path }) => path)].map((path) => io.host.realPath(path)))).find((path) => isWithin(out, path));
  if ((await io.host.size(out)) !== null) throw new UsageError(`--out needs a folder, and '${order.out}' is a file`);
  if (inside !== undefined) throw new UsageError(`--out needs a folder of its own, and '${order.out}' holds ${inside.endsWith(".yaml") ? "the catalog" : "the current directory"}`);
  return out;
}

/** Relative URL from the output folder to the catalog's, ending in "/". */
function baseUrl(out: string, catalogFolder: string): string {
  const path = relative(out, catalogFolder);
  if (path === "") return "./";
  if (resolve(path) === path) return `${pathToFileURL(path).href}/`;
  return `${path.split(sep).map(encodeURIComponent).join("/")}/`;
}

function printReport(report: Report, order: Order, io: Io): void {
  if (order.json) io.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
}

/** Native queries are made without a store, so relative paths lead nowhere. */
const NOWHERE = new URL("file:///");

/** What the compiler is made of beside its own code. */
const USED_PACKAGES = ["toolsrv", "yaml", "zod", "handlebars", "esbuild"] as const;

/** A catalog that is to be built. */
interface Catalog {
  /** As the user wrote it. */
  readonly shown: string;
  readonly path: string;
  /** Optional packages that are found from its folder. */
  readonly isInstalled: (name: string) => boolean;
}

/** One that compiled. */
interface Built extends Catalog, Compiled {}

/** What a build prints. */
interface Printed {
  readonly files: ReadonlyMap<string, string>;
  /** The plans among them, each with its catalog. */
  readonly plans: readonly PrintedCatalog[];
}

/** What is known of earlier builds into the same folder. */
interface Records {
  /** The catalogs as they were read once and for all, in order. */
  readonly bytes: readonly Uint8Array[];
  /** The output folder, absolute. */
  readonly out: string;
  /** The last build, when nothing has changed since. */
  find(): Promise<Outcome | null>;
  keep(outcome: Outcome): Promise<void>;
}

const count = (n: number, thing: string): string => `${n} ${thing}${n === 1 ? "" : "s"}`;

class Build {
  readonly #startedMs: number;
  #diagnostics: readonly LocatedDiagnostic[] = [];

  constructor(readonly order: Order, readonly io: Io) {
    this.#startedMs = io.host.monotonic();
  }

  /** Ends the build with a report. */
  #end(code: number, rest: Partial<Report> = {}): number {
    const { order, io } = this;
    const durationMs = Math.round(io.host.monotonic() - this.#startedMs);
    const report: Report = { ok: code === EXIT.OK, catalog: order.catalogs[0] ?? "", ...(order.catalogs.length > 1 ? { catalogs: order.catalogs } : {}), out: order.out, diagnostics: this.#diagnostics, files: [], drift: [], foreign: [], unproven: [], ...rest, duration_ms: durationMs };
    printReport(report, order, io);
    return code;
  }

  #refuse(message: string): number {
    if (!this.order.json) this.io.stderr.write(`toolsrv build: ${message}\n`);
    return this.#end(EXIT.USAGE);
  }

  async #report(found: readonly Diagnostic[], source: Locatable | null, text: string | null): Promise<void> {
    if (found.length === 0) return;
    const { locateAll } = await import("../../diagnostics.js");
    await this.#tell(locateAll(found, source), text);
  }

  async #tell(diagnostics: readonly LocatedDiagnostic[], text: string | null): Promise<void> {
    const { order, io } = this;
    this.#diagnostics = [...this.#diagnostics, ...diagnostics];
    if (order.json || diagnostics.length === 0) return;
    const [{ printText }, { wantsColor }] = await Promise.all([import("../../printers/text.js"), import("../../printers/print.js")]);
    io.stderr.write(printText(diagnostics, { text, color: wantsColor(io.stderr, io.env) }));
  }

  /** What the machine refuses is a result too: one line, or the report of --json. */
  async run(): Promise<number> {
    try {
      return await this.#run();
    } catch (error) {
      const problem = error instanceof UsageError ? null : systemProblem(error);
      if (problem === null) throw error;
      return this.#refuse(problem);
    }
  }

  async #run(): Promise<number> {
    const { order, io } = this;
    const { OPTIONAL_PACKAGES, findPackages } = await import("../../3-check/packages.js");
    const catalogs = await Promise.all(order.catalogs.map(async (shown): Promise<Catalog> => {
      const path = resolve(io.cwd, shown);
      return { shown, path, isInstalled: await findPackages(io.host, [dirname(path), packageRoot]) };
    }));
    if (order.emit === "ir" || order.check) return this.#compile(catalogs, null);

    const records = await this.#openRecords(catalogs, OPTIONAL_PACKAGES);
    const before = order.typecheck || records === null ? null : await records.find();
    return records === null || before === null ? this.#compile(catalogs, records) : this.#repeat(before, records);
  }

  /** The records of earlier builds; null where there is no home folder to keep them in, or a catalog cannot be read. */
  async #openRecords(catalogs: readonly Catalog[], packages: readonly string[]): Promise<Records | null> {
    const { order, io } = this;
    const userHome = io.env["HOME"] ?? io.env["USERPROFILE"] ?? "";
    const read = await Promise.all(catalogs.map(({ path }) => io.host.read(path).catch(() => null)));
    const bytes = read.filter((each) => each !== null);
    if (userHome === "" || bytes.length < read.length) return null;
    const { digestInputs, recordFolder, remember, sameAsBefore } = await import("../../5-emit/build-cache.js");
    const out = await outputFolder(order, catalogs, io);
    const folder = recordFolder(userHome);
    const inputs: BuildInputs = {
      catalogs: await Promise.all(catalogs.map(async ({ shown, path, isInstalled }, index) => ({
        catalog: shown, bytes: bytes[index] ?? new Uint8Array(), packages: packages.filter(isInstalled),
        base: baseUrl(out, dirname(await io.host.realPath(path))),
      }))),
      emission: order.emit, trace: order.trace,
      versions: Object.fromEntries(USED_PACKAGES.map((name) => [name, packageVersion(name)])),
      templates: join(packageRoot, "templates"),
    };
    const digest = await digestInputs(io.host, inputs);
    return {
      bytes, out,
      find: () => sameAsBefore(io.host, folder, out, digest),
      keep: async (outcome) => {
        // The compiler may have been replaced while it ran: then nobody knows what made this output.
        if ((await digestInputs(io.host, inputs)) === digest) await remember(io.host, folder, { out, inputs: digest, outcome });
      },
    };
  }

  /** Says again what the last build said: everything is as it left it. */
  async #repeat({ tools, files, diagnostics }: Outcome, { bytes, out }: Records): Promise<number> {
    for (const [index, shown] of this.order.catalogs.entries()) {
      await this.#tell(diagnostics.filter(({ file }) => file === shown), new TextDecoder().decode(bytes[index]));
    }
    return this.#finish(out, Object.keys(files).map((path) => ({ path, action: "unchanged" })), tools);
  }

  async #compile(catalogs: readonly Catalog[], records: Records | null): Promise<number> {
    const { order, io } = this;
    const built = await this.#compileAll(catalogs, records);
    if (built === null) return this.#end(EXIT.USAGE);
    if (order.emit === "ir") return this.#printPlans(built);
    const out = await outputFolder(order, catalogs, io);
    const printed = await this.#emit(built, out);
    if (printed === null) return this.#end(EXIT.USAGE);
    const { files, plans } = printed;
    return order.check ? this.#check(out, files, plans) : this.#write(out, files, order.emit, built, records);
  }

  /** The catalogs in the order they were given, or `null` when one has errors; the problems of all are reported. */
  async #compileAll(catalogs: readonly Catalog[], records: Records | null): Promise<readonly Built[] | null> {
    const { io } = this;
    const [{ compile, decodeCatalog, readCatalog }, { together }] = await Promise.all([import("../../compile.js"), import("../../projects.js")]);
    const read = await Promise.all(catalogs.map(({ shown, path }, index) => {
      const bytes = records?.bytes[index];
      return bytes === undefined ? readCatalog(io.host, path, shown) : decodeCatalog(bytes, shown);
    }));
    const compilations = together(read.map(({ value, diagnostics }, index): Compilation => {
      const isInstalled = catalogs[index]?.isInstalled;
      if (value === null || isInstalled === undefined) return { value: null, diagnostics, source: null, resolved: null };
      const compilation = compile(value, { target: "build", isInstalled });
      return { ...compilation, diagnostics: [...diagnostics, ...compilation.diagnostics] };
    }));
    for (const [index, { diagnostics, source }] of compilations.entries()) await this.#report(diagnostics, source, read[index]?.value?.text ?? null);
    const built = catalogs.flatMap((catalog, index): Built[] => {
      const value = compilations[index]?.value ?? null;
      return value === null ? [] : [{ ...catalog, ...value }];
    });
    return built.length === catalogs.length ? built : null;
  }

  #printPlans(built: readonly Built[]): number {
    const printed = built.map(({ plans, certificates }) => ({ ...plans, guards: certificates }));
    const named = Object.fromEntries(printed.map((each, index) => [projectName(built[index]?.shown ?? ""), each]));
    this.io.stdout.write(`${JSON.stringify(printed.length === 1 ? printed[0] : { projects: named }, null, 2)}\n`);
    return EXIT.OK;
  }

  /** The files of the build, once every guard was shown for the text that is printed; `null` where one was not. */
  async #emit(built: readonly Built[], out: string): Promise<Printed | null> {
    const { host } = this.io;
    const [{ emit, emitProjects, projectFolders }, { loadTemplates }, { hasAdapter }, { shownCalls }, { programOf }, { literal }] = await Promise.all([
      import("../../5-emit/files.js"), import("../../5-emit/templates.js"), import("../../../runtime/adapters/table.js"),
      import("../../explain/queries.js"), import("../../program.js"), import("../../5-emit/literal.js"),
    ]);
    const trace = this.order.trace ? { trace: await this.#traceInput() } : {};
    const render = await loadTemplates(host);
    const folders = projectFolders(built.map(({ shown }) => projectName(shown)));
    const inputs = await Promise.all(built.map(async ({ shown, path, plans, certificates }) => {
      const name = projectName(shown);
      const home = built.length === 1 ? out : join(out, folders.get(name) ?? name);
      const queries = await shownCalls(programOf(plans, { base: NOWHERE }), plans, (value) => literal(value, 0, 0));
      return { name, plans, certificates, hasAdapter, queries, base: baseUrl(home, dirname(await host.realPath(path))) };
    }));
    const [only] = inputs;
    const files = inputs.length === 1 && only !== undefined ? emit({ ...only, ...trace }, render) : emitProjects({ projects: inputs, ...trace }, render);
    const { problemsOf } = await import("../../proof/printed.js");
    const plans = built.map(({ shown, checked }) => {
      const name = projectName(shown);
      return { path: built.length === 1 ? "plans.ts" : `${folders.get(name) ?? name}/plans.ts`, catalogText: checked.parsed.file.text };
    });
    const unproven = problemsOf(plans, (path) => files.get(path) ?? null);
    if (unproven.length > 0) {
      await this.#reportUnproven(unproven, plans, built);
      return null;
    }
    if (this.order.typecheck) await this.#typecheck(files);
    return { files, plans };
  }

  async #reportUnproven(unproven: readonly Unproven[], plans: readonly PrintedCatalog[], built: readonly Built[]): Promise<void> {
    const { createReporter } = await import("../../diagnostics.js");
    for (const [index, { checked: { parsed } }] of built.entries()) {
      const reporter = createReporter(parsed.file.path);
      for (const { path, tool, at, branch, guard } of unproven) {
        if (path === plans[index]?.path) reporter.report("TS0401", { branch, guard }, at === null ? null : { path: at }, { tool });
      }
      await this.#report(reporter.diagnostics, parsed, parsed.file.text);
    }
  }

  async #typecheck(files: ReadonlyMap<string, string>): Promise<void> {
    const { typecheck } = await import("../../5-emit/typecheck.js");
    await typecheck(files);
  }

  async #traceInput(): Promise<TraceInput> {
    // The document as the runtime carries it: parsing the YAML again would cost more than the rest of the build.
    const [{ traceApiOf }, { DOCUMENT }] = await Promise.all([
      import("../../1-parse/openapi.js"), import("../../../runtime/trace/api.gen.js"),
    ]);
    const { operations, summaries } = traceApiOf(JSON.parse(DOCUMENT));
    return { operations, summaries };
  }

  async #check(out: string, files: ReadonlyMap<string, string>, plans: readonly PrintedCatalog[]): Promise<number> {
    const { order, io } = this;
    const { drift, foreign, unproven, isSame } = await judgeOutput(io.host, out, files, plans);
    // It costs seconds, and an output that differs has to be made anew and checked again anyway.
    if (isSame && !order.typecheck) await this.#typecheck(files);
    if (!order.json) {
      io.stdout.write([...drift.values()].join(""));
      for (const { path, tool, branch, guard } of unproven) io.stderr.write(`${order.out}/${path}: ${tool === null ? "" : `${tool}, `}${branch}: does not show that ${guard} always applies\n`);
      for (const path of foreign) io.stderr.write(`${order.out}/${path}: not of this build, but imports of ${order.out}/ can reach it; remove it\n`);
      if (drift.size > 0) io.stderr.write(`${order.out} is out of date: ${count(drift.size, "file")} ${drift.size === 1 ? "differs" : "differ"}; run: toolsrv build ${order.catalogs.join(" ")} --out ${order.out}\n`);
      if (isSame) io.stderr.write(`${order.out} is up to date with ${order.catalogs.join(", ")}\n`);
    }
    return this.#end(isSame ? EXIT.OK : EXIT.FINDINGS, { drift: [...drift.keys()], foreign, unproven: unproven.map(({ path, tool, branch, guard }) => ({ path, tool, branch, guard })) });
  }

  async #write(out: string, files: ReadonlyMap<string, string>, emission: Emission, built: readonly Built[], records: Records | null): Promise<number> {
    const { order, io } = this;
    const { writeToDisk } = await import("../../5-emit/write.js");
    const written = await writeToDisk(io.host, out, files, emission, io.signal);
    if ("refused" in written) {
      const where = `${order.out}/${written.path}`;
      if (written.refused === "closed") return this.#refuse(`cannot write in ${written.path === "" ? order.out : where}: it is read-only or belongs to another user; change its owner or choose another --out`);
      return this.#refuse(written.refused === "busy" ? `other builds keep changing ${order.out}` : `${where} was not written by a build; move it away or choose another --out`);
    }
    const tools = built.reduce((sum, { plans }) => sum + Object.keys(plans.tools).length, 0);
    await records?.keep({ tools, files: digestsOf(written), diagnostics: this.#diagnostics });
    return this.#finish(out, written.map(({ path, action }) => ({ path, action })), tools);
  }

  async #finish(out: string, files: readonly FileReport[], tools: number): Promise<number> {
    const { order, io } = this;
    const { foreignModules } = await import("../../5-emit/foreign.js");
    // Where only JavaScript was written, its TypeScript may be there from another run.
    const foreign = await foreignModules(io.host, out, files.map(({ path }) => path.replace(/\.js(?:\.map)?$/, ".ts")));
    if (!order.json) {
      for (const path of foreign) io.stderr.write(`toolsrv build: ${order.out}/${path} is not of this build, but imports of ${order.out}/ can reach it; --check will fail until it is removed\n`);
      for (const { path, action } of files) io.stdout.write(`${action.padEnd(9)} ${order.out}/${path}\n`);
      if (!(await findsPackage(io, out))) io.stderr.write(`toolsrv build: the package 'toolsrv' is not found from ${order.out}, so its server cannot start there; install it in the project: npm install with the path of the toolsrv folder or tarball\n`);
      const changed = files.filter(({ action }) => action !== "unchanged").length;
      const ms = Math.round(io.host.monotonic() - this.#startedMs);
      const state = changed === 0 ? "nothing changed" : `${count(changed, "file")} changed`;
      io.stdout.write(`built ${count(tools, "tool")} of ${order.catalogs.map((path) => basename(path)).join(", ")}: ${state}, ${ms} ms\n`);
    }
    return this.#end(EXIT.OK, { files, foreign });
  }
}

/** What `--check` finds in an output folder. */
export interface Judgement {
  /** Files that differ from what a build would write, as diffs. */
  readonly drift: ReadonlyMap<string, string>;
  readonly foreign: readonly string[];
  readonly unproven: readonly Unproven[];
  /** Nothing of it: exit code 0, if the types are right. */
  readonly isSame: boolean;
}

/** Everything that `--check` decides about the output: its bytes, what imports can reach, and what its plans show. */
export async function judgeOutput(host: Pick<Host, "read" | "entries">, out: string, files: ReadonlyMap<string, string>, plans: readonly PrintedCatalog[], readCatalog?: (text: string) => unknown): Promise<Judgement> {
  const { checkOutput } = await import("../../5-emit/check-output.js");
  const { problemsOf } = await import("../../proof/printed.js");
  const { drift, foreign, present } = await checkOutput(host, out, files);
  // What was printed has been proven; only other bytes need a proof of their own.
  const unproven = problemsOf(plans.filter(({ path }) => drift.has(path)), (path) => present.get(path) ?? null, readCatalog);
  return { drift, foreign, unproven, isSame: drift.size === 0 && foreign.length === 0 };
}

/** Whether Node finds the runtime from the output: in a node_modules above it, or as the package that it is part of. */
async function findsPackage({ host }: Io, out: string): Promise<boolean> {
  for (let folder = out; ; folder = dirname(folder)) {
    if (await host.exists(join(folder, "node_modules", "toolsrv", "package.json"))) return true;
    const own = await host.read(join(folder, "package.json")).catch(() => null);
    if (own !== null && /^\s*"name":\s*"toolsrv"/m.test(new TextDecoder().decode(own))) return true;
    if (folder === dirname(folder)) return false;
  }
}

function digestsOf(files: readonly WrittenFile[]): Outcome["files"] {
  return Object.fromEntries(files.flatMap(({ path, digest }) => (digest === null ? [] : [[path, digest]])));
}

export const run: CommandModule["run"] = async (invocation, io) => new Build(readOrder(invocation), io).run();
