/** Serves catalogs and reloads them when they are saved, for `toolsrv serve` and `toolsrv dev`. */
import { basename, resolve } from "node:path";
import { clashOf } from "../../runtime/abi/projects.js";
import type { ProgramSource } from "../../runtime/serve/reloadable-catalogs.js";
import { UsageError, type Invocation, type Io } from "../cli/command.js";
import { EXIT } from "../cli/exit.js";
import { draftsPath } from "../drafts/store.js";
import { keepExpiring } from "./expiry.js";
import { load, type Loaded, type Printed } from "./catalogs.js";

/** What happens beside the serving. */
export interface Companion {
  /** More files, absolute, whose changes make the catalogs be read again. */
  readonly files: readonly string[];
  /** Called with the catalogs of the start, and after each change before they are served; a broken change has no projects. */
  onLoad(loaded: Loaded): Promise<void>;
  /** Called when the server has ended. */
  close(): Promise<void>;
}

/** Serves the catalogs of the arguments until the client leaves or the process is asked to stop; returns the exit code. */
export async function serveCatalogs(invocation: Invocation, io: Io, companion: Companion | null = null): Promise<number> {
  const clash = clashOf(invocation.args);
  if (clash !== null) throw new UsageError(clash);
  // Flags first: a mistake in them is reported before any work is done.
  const { serveOptions } = await import("../../runtime/config/serve-options.js");
  const { StartError } = await import("../../runtime/config/exit.js");
  const { processIo } = await import("../../runtime/serve/io.js");
  const { serveWith, startFailure } = await import("../../runtime/serve/main.js");
  const needless = ["schema", "scenarios", "seed", "fault"].find((name) => invocation.options[name] !== undefined);
  if (needless !== undefined && invocation.options["twin"] !== true) throw new UsageError(`--${needless} goes with --twin`);
  let stopExpiring = (): void => undefined;
  try {
    const options = serveOptions(invocation.options);
    const printed: Printed = new Map();
    const loaded = await load(invocation, io, printed);
    await companion?.onLoad(loaded);
    if (loaded.projects === null) return EXIT.USAGE;
    const source = options.watch ? await sourceOf(invocation, io, printed, companion) : undefined;
    stopExpiring = keepExpiring(io);
    return await serveWith(loaded.projects, options, loaded.env, processIo(io.signal), source);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    if (error instanceof StartError && error.exitCode === EXIT.USAGE) throw new UsageError(error.message);
    return startFailure(error, io.stderr);
  } finally {
    stopExpiring();
    await companion?.close();
  }
}

/** The catalogs as something that can be watched and loaded again. */
async function sourceOf(invocation: Invocation, io: Io, printed: Printed, companion: Companion | null): Promise<ProgramSource> {
  const { watchFiles } = await import("../../runtime/serve/watch.js");
  const paths = invocation.args.map((shown) => resolve(io.cwd, shown));
  return {
    name: paths.map((path) => basename(path)).join(", "),
    watch: (onChange) => watchFiles([...paths, draftsPath(io.cwd), ...(companion?.files ?? [])], onChange),
    async load() {
      if (!(await mayRead(paths, invocation.args, io))) return null;
      try {
        const loaded = await load(invocation, io, printed);
        await companion?.onLoad(loaded);
        return loaded.projects;
      } catch (error) {
        // Options that no longer fit the catalog, such as a fault of a tool that is gone.
        if (!(error instanceof UsageError)) throw error;
        io.stderr.write(`toolsrv: ${error.message}\n`);
        return null;
      }
    },
  };
}

/** A pipe may be read once, at the start. Reading one where a saved file was would wait for ever, and every later save with it. */
async function mayRead(paths: readonly string[], shown: readonly string[], { host, stderr }: Io): Promise<boolean> {
  const odd = await Promise.all(paths.map(async (path) => (await host.exists(path)) && (await host.size(path)) === null));
  for (const [index, isOdd] of odd.entries()) if (isOdd) stderr.write(`toolsrv serve: ${shown[index]} is not a file any more\n`);
  return !odd.includes(true);
}
