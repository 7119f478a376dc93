/** `toolsrv validate`: every problem of a catalog, with its position and a way out. Starts nothing and writes nothing. */
import { resolve } from "node:path";
import { compile, readCatalog, readEnvFile } from "../../compile.js";
import { hasErrors, type Locatable } from "../../diagnostics.js";
import type { Diagnostic } from "../../ir.js";
import { FORMATS, printDiagnostics, wantsColor, type Format } from "../../printers/print.js";
import { UsageError, type CommandModule, type Invocation, type Io } from "../command.js";
import { EXIT } from "../exit.js";

interface Outcome {
  readonly diagnostics: readonly Diagnostic[];
  readonly source: Locatable | null;
  readonly text: string | null;
  readonly tools: number;
}

export const run: CommandModule["run"] = async (invocation, io) => {
  const format = formatOf(invocation);
  const { diagnostics, source, text, tools } = await validate(invocation, io);
  if (format === "text") {
    io.stderr.write(printDiagnostics(format, diagnostics, { source, text, color: wantsColor(io.stderr, io.env) }));
    io.stderr.write(`${diagnostics.length > 0 ? `${totals(diagnostics)}\n` : ""}${tools} tool(s) compiled\n`);
  } else {
    io.stdout.write(printDiagnostics(format, diagnostics, { source, text, color: false }));
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

/** A file that can't be read is a diagnostic like any other, so that every format has something to show. */
async function validate({ args, options }: Invocation, io: Io): Promise<Outcome> {
  const shown = args[0] ?? "";
  const envFile = options["env-file"];
  const [catalog, env] = await Promise.all([
    readCatalog(io.host, resolve(io.cwd, shown), shown),
    typeof envFile === "string" ? readEnvFile(io.host, resolve(io.cwd, envFile), envFile) : { value: new Map<string, string>(), diagnostics: [] },
  ]);
  if (catalog.value === null || env.value === null) {
    return { diagnostics: [...catalog.diagnostics, ...env.diagnostics], source: null, text: null, tools: 0 };
  }
  const { value, diagnostics, source } = compile(catalog.value, { interpolation: { mode: "fill", env: env.value }, target: "build" });
  return { diagnostics, source, text: catalog.value.text, tools: value === null ? 0 : Object.keys(value.plans.tools).length };
}

function totals(diagnostics: readonly Diagnostic[]): string {
  const count = (severity: Diagnostic["severity"]): number => diagnostics.filter((diagnostic) => diagnostic.severity === severity).length;
  const parts = [[count("error"), "error"], [count("warning"), "warning"], [count("info"), "note"]] as const;
  return parts.filter(([n]) => n > 0).map(([n, word]) => `${n} ${word}${n === 1 ? "" : "s"}`).join(", ");
}
