/**
 * `toolsrv serve`: compiles the catalog in memory and hands the same program to the runtime that `out/server.js`
 * would hand it. From there on the two are one.
 */
import { basename, dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Program } from "../../../runtime/abi/call.js";
import type { ProgramSource } from "../../../runtime/serve/live.js";
import { compile, findPackages, readCatalog, readEnvFile } from "../../compile.js";
import type { Locatable } from "../../diagnostics.js";
import type { Diagnostic } from "../../ir.js";
import { printDiagnostics, wantsColor } from "../../printers/print.js";
import { programOf } from "../../program.js";
import { UsageError, type CommandModule, type Invocation, type Io } from "../command.js";
import { EXIT } from "../exit.js";
import { packageRoot } from "../package.js";

/** The program, or `null` after its errors were printed. */
interface Loaded {
  readonly program: Program | null;
  readonly env: ReadonlyMap<string, string>;
}

export const run: CommandModule["run"] = async (invocation, io) => {
  if (invocation.args.length > 1) throw new UsageError("serving several catalogs at once is not available in this version");
  // Flags first: a mistake in them is told before any work is done.
  const { serveOptions } = await import("../../../runtime/serve/options.js");
  const { StartError } = await import("../../../runtime/serve/exit.js");
  const { processIo } = await import("../../../runtime/serve/io.js");
  const { serveProgram, startFailure } = await import("../../../runtime/serve/main.js");
  try {
    const options = serveOptions(invocation.options);
    const { program, env } = await load(invocation, io);
    if (program === null) return EXIT.USAGE;
    const source = options.watch ? await sourceOf(invocation, io) : undefined;
    return await serveProgram(program, options, env, processIo(io.signal), source);
  } catch (error) {
    if (error instanceof StartError && error.exitCode === EXIT.USAGE) throw new UsageError(error.message);
    return startFailure(error, io.stderr);
  }
};

/** The catalog as something that can be watched and loaded again. */
async function sourceOf(invocation: Invocation, io: Io): Promise<ProgramSource> {
  const { watchFiles } = await import("../../../runtime/serve/watch.js");
  const path = resolve(io.cwd, invocation.args[0] ?? "");
  return {
    name: basename(path),
    watch: (onChange) =>
      watchFiles([path, join(dirname(path), DRAFTS_FILE)], onChange, (error) => io.stderr.write(`toolsrv serve: changes of ${basename(path)} cannot be watched: ${error.message}\n`)),
    load: async () => (await load(invocation, io)).program,
  };
}

/** Drafts beside the catalog are read with it. */
const DRAFTS_FILE = "tools.drafts.yaml";

async function load({ args, options }: Invocation, io: Io): Promise<Loaded> {
  const shown = args[0] ?? "";
  const path = resolve(io.cwd, shown);
  const envFile = options["env-file"];
  const [catalog, values] = await Promise.all([
    readCatalog(io.host, path, shown),
    typeof envFile === "string" ? readEnvFile(io.host, resolve(io.cwd, envFile), envFile) : { value: new Map<string, string>(), diagnostics: [] },
  ]);
  const env = values.value ?? new Map<string, string>();
  if (catalog.value === null || values.value === null) {
    print([...catalog.diagnostics, ...values.diagnostics], null, null, io);
    return { program: null, env };
  }
  const { value, diagnostics, source } = compile(catalog.value, { interpolation: { mode: "fill", env }, isInstalled: await findPackages(io.host, [dirname(path), packageRoot]) });
  print(diagnostics, source, catalog.value.text, io);
  return { program: value === null ? null : programOf(value.plans, { base: pathToFileURL(`${dirname(path)}/`) }), env };
}

function print(diagnostics: readonly Diagnostic[], source: Locatable | null, text: string | null, io: Io): void {
  if (diagnostics.length === 0) return;
  io.stderr.write(printDiagnostics("text", diagnostics, { source, text, color: wantsColor(io.stderr, io.env) }));
}
