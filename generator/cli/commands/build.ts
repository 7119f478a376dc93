/** `toolsrv build`: a catalog → reviewable TypeScript and a server. Everything heavy is imported when it is needed. */
import { basename, dirname, join, relative, resolve, sep } from "node:path";
import { pathToFileURL } from "node:url";
import type { CommandModule, Invocation, Io } from "../command.js";
import { UsageError } from "../command.js";
import { EXIT } from "../exit.js";
import { packageRoot, packageVersion } from "../package.js";
import type { Compiled } from "../../compile.js";
import type { Locatable } from "../../diagnostics.js";
import type { Diagnostic, LocatedDiagnostic } from "../../ir.js";
import type { BuildInputs, Outcome } from "../../5-emit/record.js";
import type { TraceInput } from "../../5-emit/trace.js";
import type { Emission, FileReport, WrittenFile } from "../../5-emit/write.js";

interface Order {
  /** As the user wrote them. */
  readonly catalog: string;
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
  readonly catalog: string;
  readonly out: string;
  readonly diagnostics: readonly LocatedDiagnostic[];
  readonly files: readonly FileReport[];
  /** Files that differ from what a build would write, with `--check`. */
  readonly drift: readonly string[];
  readonly duration_ms: number;
}

function readOrder({ args, options }: Invocation): Order {
  if (args.length > 1) throw new UsageError("one catalog at a time: building several into one server is not supported yet");
  const emit = options["emit"];
  if (emit !== undefined && emit !== "ts" && emit !== "js" && emit !== "ir") throw new UsageError(`--emit takes ts, js or ir, not '${String(emit)}'`);
  const check = options["check"] === true;
  if (check && emit !== undefined) throw new UsageError("--check compares the whole output; it does not go with --emit");
  return {
    catalog: args[0] ?? "tools.yaml",
    out: typeof options["out"] === "string" ? options["out"] : "out",
    emit: emit ?? "all",
    check,
    typecheck: check || options["typecheck"] === true,
    trace: options["trace"] !== false,
    json: options["json"] === true,
  };
}

function isWithin(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

/** The output folder is replaced as a whole, so it must be one of its own. */
async function outputFolder(order: Order, catalogPath: string, io: Io): Promise<string> {
  const out = await io.host.realPath(resolve(io.cwd, order.out));
  const inside = [await io.host.realPath(io.cwd), await io.host.realPath(catalogPath)].find((path) => isWithin(out, path));
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

/** What the compiler is made of beside its own code. */
const USED_PACKAGES = ["toolsrv", "yaml", "zod", "handlebars", "esbuild"] as const;

/** What is known of earlier builds into the same folder. */
interface Records {
  /** The catalog as it was read once and for all. */
  readonly bytes: Uint8Array;
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
    const report: Report = { ok: code === EXIT.OK, catalog: order.catalog, out: order.out, diagnostics: this.#diagnostics, files: [], drift: [], ...rest, duration_ms: durationMs };
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
    this.#diagnostics = diagnostics;
    if (order.json || diagnostics.length === 0) return;
    const [{ printText }, { wantsColor }] = await Promise.all([import("../../printers/text.js"), import("../../printers/print.js")]);
    io.stderr.write(printText(diagnostics, { text, color: wantsColor(io.stderr, io.env) }));
  }

  async run(): Promise<number> {
    const { order, io } = this;
    const catalogPath = resolve(io.cwd, order.catalog);
    const { OPTIONAL_PACKAGES, findPackages } = await import("../../3-check/packages.js");
    const isInstalled = await findPackages(io.host, [dirname(catalogPath), packageRoot]);
    if (order.emit === "ir" || order.check) return this.#compile(catalogPath, isInstalled, null);

    const records = await this.#openRecords(catalogPath, OPTIONAL_PACKAGES.filter(isInstalled));
    const before = order.typecheck || records === null ? null : await records.find();
    return records === null || before === null ? this.#compile(catalogPath, isInstalled, records) : this.#repeat(before, records.bytes);
  }

  /** The records of earlier builds; null where there is no home folder to keep them in, or no catalog to read. */
  async #openRecords(catalogPath: string, packages: readonly string[]): Promise<Records | null> {
    const { order, io } = this;
    const userHome = io.env["HOME"] ?? io.env["USERPROFILE"] ?? "";
    const bytes = await io.host.read(catalogPath).catch(() => null);
    if (userHome === "" || bytes === null) return null;
    const { digestInputs, recordFolder, remember, sameAsBefore } = await import("../../5-emit/record.js");
    const out = await outputFolder(order, catalogPath, io);
    const folder = recordFolder(userHome);
    const inputs: BuildInputs = {
      catalog: order.catalog, bytes, packages, emission: order.emit, trace: order.trace,
      base: baseUrl(out, dirname(await io.host.realPath(catalogPath))),
      versions: Object.fromEntries(USED_PACKAGES.map((name) => [name, packageVersion(name)])),
      templates: join(packageRoot, "templates"),
    };
    const digest = await digestInputs(io.host, inputs);
    return {
      bytes,
      find: () => sameAsBefore(io.host, folder, out, digest),
      keep: async (outcome) => {
        // The compiler may have been replaced while it ran: then nobody knows what made this output.
        if ((await digestInputs(io.host, inputs)) === digest) await remember(io.host, folder, { out, inputs: digest, outcome });
      },
    };
  }

  /** Says again what the last build said: everything is as it left it. */
  async #repeat({ tools, files, diagnostics }: Outcome, bytes: Uint8Array): Promise<number> {
    await this.#tell(diagnostics, new TextDecoder().decode(bytes));
    return this.#finish(Object.keys(files).map((path) => ({ path, action: "unchanged" })), tools);
  }

  async #compile(catalogPath: string, isInstalled: (name: string) => boolean, records: Records | null): Promise<number> {
    const { order, io } = this;
    const { compile, decodeCatalog, readCatalog } = await import("../../compile.js");
    const read = records === null ? await readCatalog(io.host, catalogPath, order.catalog) : decodeCatalog(records.bytes, order.catalog);
    if (read.value === null) {
      await this.#report(read.diagnostics, null, null);
      return this.#end(EXIT.USAGE);
    }
    const compilation = compile(read.value, { interpolation: { mode: "defer" }, target: "build", isInstalled });
    await this.#report([...read.diagnostics, ...compilation.diagnostics], compilation.source, read.value.text);
    if (compilation.value === null) return this.#end(EXIT.USAGE);
    if (order.emit === "ir") return this.#printPlans(compilation.value);
    const out = await outputFolder(order, catalogPath, io);
    const files = await this.#emit(compilation.value, baseUrl(out, dirname(await io.host.realPath(catalogPath))));
    return order.check ? this.#check(out, files) : this.#write(out, files, order.emit, compilation.value, records);
  }

  #printPlans({ plans, certificates }: Compiled): number {
    this.io.stdout.write(`${JSON.stringify({ ...plans, guards: certificates }, null, 2)}\n`);
    return EXIT.OK;
  }

  async #emit({ plans, certificates }: Compiled, base: string): Promise<ReadonlyMap<string, string>> {
    const [{ emit }, { loadTemplates }, { hasAdapter }] = await Promise.all([
      import("../../5-emit/files.js"), import("../../5-emit/templates.js"), import("../../../runtime/adapters/table.js"),
    ]);
    const trace = this.order.trace ? { trace: await this.#traceInput() } : {};
    const files = emit({ plans, certificates, base, hasAdapter, ...trace }, await loadTemplates(this.io.host));
    if (this.order.typecheck) {
      const { typecheck } = await import("../../5-emit/typecheck.js");
      await typecheck(files);
    }
    return files;
  }

  async #traceInput(): Promise<TraceInput> {
    // The document as the runtime carries it: parsing the YAML again would cost more than the rest of the build.
    const [{ traceApiOf }, { loadTraceTypes }, { DOCUMENT }] = await Promise.all([
      import("../../1-parse/openapi.js"), import("../../5-emit/templates.js"), import("../../../runtime/trace/api.gen.js"),
    ]);
    const { operations, summaries } = traceApiOf(JSON.parse(DOCUMENT));
    return { operations, summaries, types: await loadTraceTypes(this.io.host) };
  }

  async #check(out: string, files: ReadonlyMap<string, string>): Promise<number> {
    const { order, io } = this;
    const { driftOf } = await import("../../5-emit/write.js");
    const drift = await driftOf(io.host, out, files);
    if (!order.json) {
      io.stdout.write([...drift.values()].join(""));
      const told = drift.size === 0 ? `${order.out} is up to date with ${order.catalog}` : `${order.out} is out of date: ${count(drift.size, "file")} ${drift.size === 1 ? "differs" : "differ"}; run: toolsrv build ${order.catalog} --out ${order.out}`;
      io.stderr.write(`${told}\n`);
    }
    return this.#end(drift.size === 0 ? EXIT.OK : EXIT.FINDINGS, { drift: [...drift.keys()] });
  }

  async #write(out: string, files: ReadonlyMap<string, string>, emission: Emission, { plans }: Compiled, records: Records | null): Promise<number> {
    const { order, io } = this;
    const { writeToDisk } = await import("../../5-emit/write.js");
    const written = await writeToDisk(io.host, out, files, emission, io.signal);
    if ("refused" in written) {
      const where = `${order.out}/${written.path}`;
      return this.#refuse(written.refused === "busy" ? `other builds keep changing ${order.out}` : `${where} was not written by a build; move it away or choose another --out`);
    }
    const tools = Object.keys(plans.tools).length;
    await records?.keep({ tools, files: digestsOf(written), diagnostics: this.#diagnostics });
    return this.#finish(written.map(({ path, action }) => ({ path, action })), tools);
  }

  #finish(files: readonly FileReport[], tools: number): number {
    const { order, io } = this;
    if (!order.json) {
      for (const { path, action } of files) io.stdout.write(`${action.padEnd(9)} ${order.out}/${path}\n`);
      const changed = files.filter(({ action }) => action !== "unchanged").length;
      const ms = Math.round(io.host.monotonic() - this.#startedMs);
      const state = changed === 0 ? "nothing changed" : `${count(changed, "file")} changed`;
      io.stdout.write(`built ${count(tools, "tool")} of ${basename(order.catalog)}: ${state}, ${ms} ms\n`);
    }
    return this.#end(EXIT.OK, { files });
  }
}

function digestsOf(files: readonly WrittenFile[]): Outcome["files"] {
  return Object.fromEntries(files.flatMap(({ path, digest }) => (digest === null ? [] : [[path, digest]])));
}

export const run: CommandModule["run"] = async (invocation, io) => new Build(readOrder(invocation), io).run();
