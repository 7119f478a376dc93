/** A build: catalogs → reviewable TypeScript and a server. Everything heavy is imported when it is needed. */
import { basename, dirname, resolve } from "node:path";
import { projectName } from "../../runtime/abi/projects.js";
import { systemProblem } from "../../runtime/base/system-error.js";
import { judgeRecall, readCertificates } from "./certificates.js";
import { findsPackage } from "./find-package.js";
import { checkBeside, checkText, reportOf, writeBeside, type FolderReport, type Folders, type Written } from "./beside.js";
import { outputFolder, type Built, type Catalog, type Order } from "./order.js";
import { judgeOutput } from "./judge-output.js";
import { makePython } from "./python-output.js";
import { digestsOf, openRecords, type Records } from "./records.js";
import type { Skill } from "./skill-output.js";
import type { Printed } from "./print-files.js";
import { makeTwin } from "./twin-output.js";
import type { Io } from "../cli/command.js";
import { UsageError } from "../cli/command.js";
import { EXIT } from "../cli/exit.js";
import { packageRoot } from "../cli/package.js";
import type { Compilation } from "../compile.js";
import type { Locatable } from "../diagnostics.js";
import type { Diagnostic, LocatedDiagnostic } from "../ir.js";
import type { Outcome } from "../5-emit/build-cache.js";
import type { PrintedCatalog, Unproven } from "../proof/printed.js";
import type { Emission, FileReport, Refusal } from "../5-emit/write.js";

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
  /** The Python package, with `--python`. */
  readonly python?: FolderReport;
  /** The twin, with `--twin`. */
  readonly twin?: FolderReport;
  readonly duration_ms: number;
}

function printReport(report: Report, order: Order, io: Io): void {
  if (order.json) io.stdout.write(`${JSON.stringify(report, null, 2)}\n`);
}

/** What a build makes beside its output folder. */
interface Beside extends Folders {
  readonly skill: Skill | null;
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
    const { locateAll } = await import("../diagnostics.js");
    await this.#tell(locateAll(found, source), text);
  }

  async #tell(diagnostics: readonly LocatedDiagnostic[], text: string | null): Promise<void> {
    const { order, io } = this;
    this.#diagnostics = [...this.#diagnostics, ...diagnostics];
    if (order.json || diagnostics.length === 0) return;
    const [{ printText }, { wantsColor }] = await Promise.all([import("../printers/text.js"), import("../printers/print.js")]);
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
    const { OPTIONAL_PACKAGES, findPackages } = await import("../3-check/packages.js");
    const catalogs = await Promise.all(order.catalogs.map(async (shown): Promise<Catalog> => {
      const path = resolve(io.cwd, shown);
      return { shown, path, isInstalled: await findPackages(io.host, [dirname(path), packageRoot]) };
    }));
    // The record of a build knows nothing of a skill, a Python package or a twin.
    if (order.emit === "ir" || order.check || order.skill !== null || order.python !== null || order.twin !== null) return this.#compile(catalogs, null);

    const records = await openRecords(order, catalogs, OPTIONAL_PACKAGES, io);
    const before = order.typecheck || records === null ? null : await records.find();
    return records === null || before === null ? this.#compile(catalogs, records) : this.#repeat(before, records);
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
    const { printFiles } = await import("./print-files.js");
    const { files, scripts, plans, unproven } = await printFiles(built, out, { trace: order.trace, scripts: !order.check && order.emit !== "ts" }, io.host);
    if (unproven.length > 0) {
      await this.#reportUnproven(unproven, plans, built);
      return this.#end(EXIT.USAGE);
    }
    if (order.typecheck) await typecheckFiles(files);
    const skill = await this.#makeSkill(out, built);
    if (skill === "refused") return this.#end(EXIT.USAGE);
    const python = order.python === null ? null : await makePython(order.python, out, built, catalogs, io);
    const twin = order.twin === null ? null : await makeTwin(order.twin.folder, order.twin.options, out, built, catalogs, io);
    if (order.twin !== null && twin === null) return this.#end(EXIT.USAGE);
    if (twin !== null && twin.printed.unproven.length > 0) {
      await this.#reportUnproven(twin.printed.unproven, twin.printed.plans, built);
      return this.#end(EXIT.USAGE);
    }
    if (twin !== null && order.typecheck) await typecheckFiles(twin.printed.files);
    const beside: Beside = { skill, python, twin };
    return order.check ? this.#check(out, files, plans, beside) : this.#write(out, { files, scripts }, order.emit, built, records, beside);
  }

  async #makeSkill(out: string, [only]: readonly Built[]): Promise<Skill | null | "refused"> {
    const { order, io } = this;
    if (order.skill === null || only === undefined) return null;
    const { makeSkill } = await import("./skill-output.js");
    const made = await makeSkill(order.skill, order, out, only, io);
    if (!("diagnostics" in made)) return made;
    await this.#report(made.diagnostics, made.source, made.text);
    return "refused";
  }

  /** The catalogs in the order they were given, or `null` when one has errors; the problems of all are reported. */
  async #compileAll(catalogs: readonly Catalog[], records: Records | null): Promise<readonly Built[] | null> {
    const { io } = this;
    const [{ compile, decodeCatalog, readCatalog }, { together }] = await Promise.all([import("../compile.js"), import("../projects.js")]);
    const read = await Promise.all(catalogs.map(({ shown, path }, index) => {
      const bytes = records?.bytes[index];
      return bytes === undefined ? readCatalog(io.host, path, shown) : decodeCatalog(bytes, shown);
    }));
    const certificates = records?.certificates ?? (await readCertificates(catalogs, io.host));
    const compilations = together(await Promise.all(read.map(async ({ value, diagnostics }, index): Promise<Compilation> => {
      const isInstalled = catalogs[index]?.isInstalled;
      if (value === null || isInstalled === undefined) return { value: null, diagnostics, source: null, resolved: null };
      const compilation = compile(value, { target: "build", isInstalled });
      const unshown = compilation.value === null ? [] : await judgeRecall(compilation.value, certificates[index] ?? null, "error");
      return { ...compilation, value: unshown.length === 0 ? compilation.value : null, diagnostics: [...diagnostics, ...compilation.diagnostics, ...unshown] };
    })));
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

  async #reportUnproven(unproven: readonly Unproven[], plans: readonly PrintedCatalog[], built: readonly Built[]): Promise<void> {
    const { createReporter } = await import("../diagnostics.js");
    for (const [index, { checked: { parsed } }] of built.entries()) {
      const reporter = createReporter(parsed.file.path);
      for (const { path, tool, at, branch, guard } of unproven) {
        if (path === plans[index]?.path) reporter.report("TS0401", { branch, guard }, at === null ? null : { path: at }, { tool });
      }
      await this.#report(reporter.diagnostics, parsed, parsed.file.text);
    }
  }

  async #check(out: string, files: ReadonlyMap<string, string>, plans: readonly PrintedCatalog[], beside: Beside): Promise<number> {
    const { order, io } = this;
    const { skill, twin } = beside;
    const judged = await judgeOutput(io.host, out, files, plans);
    const { foreign, unproven } = judged;
    const ofSkill = skill === null ? "" : (await import("./skill-output.js")).skillDrift(skill);
    const drift = skill === null || ofSkill === "" ? judged.drift : new Map([...judged.drift, [`${skill.shown}/SKILL.md`, ofSkill]]);
    const isSame = judged.isSame && ofSkill === "";
    const folders = await checkBeside(beside, io);
    // It costs seconds, and an output that differs has to be made anew and checked again anyway.
    const isAllSame = isSame && folders.every((folder) => folder.drift.size === 0 && folder.foreign.length === 0);
    if (isAllSame && !order.typecheck) for (const made of [files, twin?.printed.files ?? []]) await typecheckFiles(new Map(made));
    if (!order.json) {
      io.stdout.write([...drift.values()].join(""));
      for (const { path, tool, branch, guard } of unproven) io.stderr.write(`${order.out}/${path}: ${tool === null ? "" : `${tool}, `}${branch}: does not show that ${guard} always applies\n`);
      for (const path of foreign) io.stderr.write(`${order.out}/${path}: not of this build, but imports of ${order.out}/ can reach it; remove it\n`);
      if (drift.size > 0) io.stderr.write(`${order.out} is out of date: ${count(drift.size, "file")} ${drift.size === 1 ? "differs" : "differ"}; run: toolsrv build ${order.catalogs.join(" ")} --out ${order.out}${skill === null ? "" : ` --skill ${skill.shown}`}\n`);
      if (isSame) io.stderr.write(`${order.out} is up to date with ${order.catalogs.join(", ")}\n`);
    }
    for (const folder of order.json ? [] : folders) {
      const { diffs, notes } = checkText(folder, order.catalogs.join(", "));
      io.stdout.write(diffs);
      io.stderr.write(notes);
    }
    return this.#end(isAllSame ? EXIT.OK : EXIT.FINDINGS, {
      drift: [...drift.keys()], foreign, unproven: unproven.map(({ path, tool, branch, guard }) => ({ path, tool, branch, guard })),
      ...Object.fromEntries(folders.map((folder) => [folder.flag.slice(2), reportOf(folder)])),
    });
  }

  async #write(out: string, { files, scripts }: Pick<Printed, "files" | "scripts">, emission: Emission, built: readonly Built[], records: Records | null, beside: Beside): Promise<number> {
    const { order, io } = this;
    const folders = await writeBeside(beside, emission, io);
    if ("refused" in folders) return this.#refuse(refusalText(folders, folders.shown, folders.flag));
    const { writeToDisk } = await import("../5-emit/write.js");
    const written = await writeToDisk(io.host, out, files, emission, io.signal, scripts);
    if ("refused" in written) return this.#refuse(refusalText(written, order.out, "--out"));
    const tools = built.reduce((sum, { plans }) => sum + Object.keys(plans.tools).length, 0);
    if (beside.skill !== null) {
      const action = await (await import("./skill-output.js")).writeSkill(beside.skill, io);
      if (!order.json) io.stdout.write(`${action.padEnd(9)} ${beside.skill.shown}/SKILL.md\n`);
    }
    await records?.keep({ tools, files: digestsOf(written), diagnostics: this.#diagnostics });
    return this.#finish(out, written.map(({ path, action }) => ({ path, action })), tools, folders);
  }

  async #finish(out: string, files: readonly FileReport[], tools: number, folders: Written = {}): Promise<number> {
    const { order, io } = this;
    const { foreignModules } = await import("../5-emit/foreign.js");
    // Where only JavaScript was written, its TypeScript may be there from another run.
    const foreign = await foreignModules(io.host, out, files.map(({ path }) => path.replace(/\.js(?:\.map)?$/, ".ts")));
    if (!order.json) {
      for (const path of foreign) io.stderr.write(`toolsrv build: ${order.out}/${path} is not of this build, but imports of ${order.out}/ can reach it; --check will fail until it is removed\n`);
      const all = [{ out: order.out, files }, ...Object.values(folders)];
      for (const folder of all) for (const { path, action } of folder.files) io.stdout.write(`${action.padEnd(9)} ${folder.out}/${path}\n`);
      if (!(await findsPackage(io.host, out))) io.stderr.write(`toolsrv build: the package 'toolsrv' is not found from ${order.out}, so its server cannot start there; install it in the project: npm install with the path of the toolsrv folder or tarball\n`);
      const changed = all.flatMap((folder) => folder.files).filter(({ action }) => action !== "unchanged").length;
      const ms = Math.round(io.host.monotonic() - this.#startedMs);
      const state = changed === 0 ? "nothing changed" : `${count(changed, "file")} changed`;
      io.stdout.write(`built ${count(tools, "tool")} of ${order.catalogs.map((path) => basename(path)).join(", ")}: ${state}, ${ms} ms\n`);
    }
    return this.#end(EXIT.OK, { files, foreign, ...folders });
  }
}

/** Why a folder was not written. */
function refusalText({ refused, path }: Refusal, folder: string, flag: string): string {
  const where = `${folder}/${path}`;
  if (refused === "closed") return `cannot write in ${path === "" ? folder : where}: it is read-only or belongs to another user; change its owner or choose another ${flag}`;
  return refused === "busy" ? `other builds keep changing ${folder}` : `${where} was not written by a build; move it away or choose another ${flag}`;
}

async function typecheckFiles(files: ReadonlyMap<string, string>): Promise<void> {
  const { typecheck } = await import("../5-emit/typecheck.js");
  await typecheck(files);
}

/** Builds what the order asks for, and reports it; returns the exit code. */
export function build(order: Order, io: Io): Promise<number> {
  return new Build(order, io).run();
}
