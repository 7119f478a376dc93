/** How commands that look at one store begin: read the catalog, find the connection, print what is in the way. */
import { dirname, resolve } from "node:path";
import type { Env } from "../../runtime/abi/references.js";
import type { OpenOptions } from "../../runtime/adapters/adapter.js";
import { nearestName } from "../../runtime/base/nearest.js";
import type { Invocation, Io } from "../cli/command.js";
import { analyze, readCatalog, readEnvFile } from "../compile.js";
import { hasErrors, type Locatable } from "../diagnostics.js";
import type { Diagnostic, Resolved, ResolvedConnection, SourceFile } from "../ir.js";
import { printDiagnostics, wantsColor } from "../printers/print.js";

export interface OpenedConnection {
  readonly catalog: SourceFile;
  readonly resolved: Resolved;
  readonly connection: ResolvedConnection;
  readonly env: Env;
  /** How its store is opened. */
  readonly where: OpenOptions;
  /** Of the whole catalog; errors in tools do not keep anyone from looking at a store. */
  readonly diagnostics: readonly Diagnostic[];
  /** Prints them to stderr. */
  print(): void;
}

/** Why there is no connection to look at; it was printed to stderr. */
export type NotOpened = "no catalog" | "no connection";

export async function openConnection({ args, options }: Invocation, io: Io, command: string): Promise<OpenedConnection | NotOpened> {
  const shown = args[0] ?? "";
  const path = resolve(io.cwd, shown);
  const envFile = options["env-file"];
  const [catalog, env] = await Promise.all([
    readCatalog(io.host, path, shown),
    typeof envFile === "string" ? readEnvFile(io.host, resolve(io.cwd, envFile), envFile) : { value: new Map<string, string>(), diagnostics: [] },
  ]);
  const printAll = (diagnostics: readonly Diagnostic[], source: Locatable | null): void => {
    if (diagnostics.length > 0) io.stderr.write(printDiagnostics("text", diagnostics, { source, text: catalog.value?.text ?? null, color: wantsColor(io.stderr, io.env) }));
  };
  if (catalog.value === null || env.value === null) {
    printAll([...catalog.diagnostics, ...env.diagnostics], null);
    return "no catalog";
  }
  const { resolved, diagnostics, source } = analyze(catalog.value, { target: "validate", env: env.value });
  if (resolved === null) {
    printAll(diagnostics, source);
    return "no catalog";
  }
  const name = String(options["connection"]);
  const connection = resolved.connections.find((one) => one.name === name);
  if (connection === undefined) {
    if (hasErrors(diagnostics)) printAll(diagnostics, source);
    io.stderr.write(noConnection(command, shown, name, resolved.connections.map((one) => one.name)));
    return "no connection";
  }
  printAll(env.diagnostics, null);
  return {
    catalog: catalog.value, resolved, connection, env: env.value, diagnostics,
    where: { base: dirname(path), from: { catalog: shown, connection: name } },
    print: () => printAll(diagnostics, source),
  };
}

function noConnection(command: string, catalog: string, name: string, known: readonly string[]): string {
  const meant = nearestName(name, known);
  return `toolsrv ${command}: ${catalog} has no connection '${name}'${meant === null ? "" : `; did you mean '${meant}'?`}\nits connections: ${known.join(", ") || "none"}\n`;
}
