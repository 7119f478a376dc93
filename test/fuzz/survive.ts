/**
 * Compiles hostile texts one after the other in a process of its own and tells of each what it took, a line of JSON
 * each. The process is started with little memory: a text that needs more ends it.
 */
import { compile } from "../../generator/compile.js";
import { locateAll } from "../../generator/diagnostics.js";
import { printDiagnostics } from "../../generator/printers/print.js";
import { HOSTILE_TEXTS } from "./hostile.js";

/** Codes that blame the whole file. */
const WITHOUT_PLACE = new Set(["TS0003", "TS0004", "TS0012"]);

/** A process that shares a core with others counts up to twice the time; the least of several runs is the text's own. */
const RUNS = 3;
const QUICK_MS = 1_500;

function once(text: string): { readonly ms: number; readonly told: object } {
  const started = process.cpuUsage();
  const { value, diagnostics, source } = compile({ path: "t.yaml", text }, { env: new Map([["A", "x"]]), target: "describe" });
  const located = locateAll(diagnostics, source);
  const printed = printDiagnostics("text", diagnostics, { source, text, color: false }).length;
  const { user, system } = process.cpuUsage(started);
  const placeless = located.filter(({ code, line, column }) => !WITHOUT_PLACE.has(code) && (line === null || column === null)).map(({ code }) => code);
  return { ms: Math.round((user + system) / 1000), told: { compiles: value !== null, codes: [...new Set(located.map(({ code }) => code))].slice(0, 6), placeless, printed } };
}

for (const [name, text] of HOSTILE_TEXTS) {
  process.stdout.write(`${JSON.stringify({ name })}\n`);
  const { ms: first, told } = once(text);
  let ms = first;
  for (let run = 1; run < RUNS && ms > QUICK_MS; run++) ms = Math.min(ms, once(text).ms);
  const peakMb = Math.round(process.resourceUsage().maxRSS / 1024);
  process.stdout.write(`${JSON.stringify({ name, ms, peakMb, ...told })}\n`);
}
