/** Reads a scenarios file for a command: what is wrong with it is printed. */
import { resolve } from "node:path";
import type { Io } from "../cli/command.js";
import { readCatalog } from "../compile.js";
import { printDiagnostics, wantsColor } from "../printers/print.js";
import { readScenarios, type Scenario } from "./scenarios.js";

/** The scenarios, or null after an error was printed. @param catalog names the catalog whose tools they may call */
export async function openScenarios(file: string, tools: readonly string[], catalog: string, io: Io): Promise<readonly Scenario[] | null> {
  const read = await readCatalog(io.host, resolve(io.cwd, file), file);
  const { scenarios, diagnostics, source } = read.value === null ? { scenarios: null, diagnostics: read.diagnostics, source: null } : readScenarios(read.value, tools, catalog);
  if (diagnostics.length > 0) io.stderr.write(printDiagnostics("text", diagnostics, { source, text: read.value?.text ?? null, color: wantsColor(io.stderr, io.env) }));
  return scenarios;
}
