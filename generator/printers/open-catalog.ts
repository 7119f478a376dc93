/** How commands that run a catalog begin: read it, compile it with the values of --env-file, print what is wrong. */
import { dirname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { Invocation, Io } from "../cli/command.js";
import { compile, type Compiled, readCatalog, readEnvFile } from "../compile.js";
import type { Locatable } from "../diagnostics.js";
import type { Diagnostic } from "../ir.js";
import { printDiagnostics, wantsColor } from "./print.js";

export interface OpenedCatalog {
  readonly compiled: Compiled;
  /** The catalog as it is written. */
  readonly text: string;
  readonly env: ReadonlyMap<string, string>;
  /** Folder of the catalog, where relative paths of connections start. */
  readonly base: URL;
}

/**
 * The catalog of the first argument, or `null` after its errors were printed to stderr; warnings are printed too.
 * @param target `describe` for commands that open none of its stores: values of references are asked for with --env-file only.
 */
export async function openCatalog({ args, options }: Invocation, io: Io, target: "serve" | "describe" = "serve"): Promise<OpenedCatalog | null> {
  const shown = args[0] ?? "";
  const path = resolve(io.cwd, shown);
  const envFile = options["env-file"];
  const [catalog, env] = await Promise.all([
    readCatalog(io.host, path, shown),
    typeof envFile === "string" ? readEnvFile(io.host, resolve(io.cwd, envFile), envFile) : { value: new Map<string, string>(), diagnostics: [] },
  ]);
  if (catalog.value === null || env.value === null) {
    print([...catalog.diagnostics, ...env.diagnostics], null, null, io);
    return null;
  }
  const { value, diagnostics, source } = compile(catalog.value, { target, ...(target === "describe" && typeof envFile !== "string" ? {} : { env: env.value }) });
  print([...env.diagnostics, ...diagnostics], source, catalog.value.text, io);
  return value === null ? null : { compiled: value, text: catalog.value.text, env: env.value, base: pathToFileURL(`${dirname(path)}/`) };
}

function print(diagnostics: readonly Diagnostic[], source: Locatable | null, text: string | null, io: Io): void {
  if (diagnostics.length > 0) io.stderr.write(printDiagnostics("text", diagnostics, { source, text, color: wantsColor(io.stderr, io.env) }));
}
