/**
 * Runs the test files, each in a process of its own: a crash or a hang is the failure of one file with a name, and
 * the files share the cores. Arguments select the files whose path contains one of them.
 * A word that starts with `^` leaves out the files whose path contains the rest of it.
 * Ends with "N passed, N failed" on a line of its own.
 */
import { spawn } from "node:child_process";
import { readdirSync } from "node:fs";
import { availableParallelism } from "node:os";
import { dirname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { root } from "./repo.js";

/** `make live` gives slow stores more. */
const FILE_LIMIT_MS = Number(process.env["TOOLSRV_FILE_LIMIT_S"] ?? 240) * 1000;

interface Outcome {
  /** Relative to the test folder. */
  readonly file: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly seconds: number;
  readonly output: string;
  /** Why the file failed as a whole. */
  readonly problem: string | null;
}

const here = dirname(dirname(fileURLToPath(import.meta.url)));

/** Runs one file to its end; never rejects. */
function runFile(file: string): Promise<Outcome> {
  return new Promise((resolve) => {
    const started = performance.now();
    const child = spawn(process.execPath, [...process.execArgv, join(here, file)], { cwd: root, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    let late = false;
    const collect = (chunk: string): void => void (output += chunk);
    child.stdout.setEncoding("utf8").on("data", collect);
    child.stderr.setEncoding("utf8").on("data", collect);
    const timer = setTimeout(() => {
      late = true;
      child.kill("SIGKILL");
    }, FILE_LIMIT_MS);
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      const total = lastCount(output, "Total");
      const passed = lastCount(output, "Passed") ?? 0;
      const failed = Math.max(0, (total ?? 0) - passed);
      const problem = late
        ? `no end after ${FILE_LIMIT_MS / 1000} s`
        : total === null
          ? `ended without a result (${signal ?? `exit ${code}`}); does the file call test.run()?`
          : code !== 0 && failed === 0
            ? `exit ${code}, although every test passed`
            : null;
      resolve({
        file, passed, problem, output,
        failed: failed + (problem === null ? 0 : 1),
        skipped: lastCount(output, "Skipped") ?? 0,
        seconds: (performance.now() - started) / 1000,
      });
    });
  });
}

function lastCount(output: string, label: string): number | null {
  const found = [...output.matchAll(new RegExp(`^  ${label}: +(\\d+)$`, "gm"))].at(-1)?.[1];
  return found === undefined ? null : Number(found);
}

function report(outcome: Outcome): void {
  const { file, passed, failed, seconds, output, problem } = outcome;
  const mark = failed > 0 ? "FAILED" : "ok    ";
  process.stdout.write(`${mark} ${file.padEnd(44)} ${String(passed).padStart(4)} passed ${seconds.toFixed(1).padStart(6)} s\n`);
  if (failed > 0) process.stdout.write(`${output.trimEnd()}\n${problem === null ? "" : `${file}: ${problem}\n`}\n`);
  else process.stdout.write(output.split("\n").filter((line) => line.startsWith("  skipped: ")).map((line) => `${line}\n`).join(""));
}

const ending = import.meta.url.endsWith(".ts") ? ".test.ts" : ".test.js";
const words = process.argv.slice(2);
const wanted = words.filter((word) => !word.startsWith("^"));
const unwanted = words.filter((word) => word.startsWith("^")).map((word) => word.slice(1));
const files = readdirSync(here, { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(ending))
  .map((file) => file.split(sep).join("/"))
  .filter((file) => wanted.length === 0 || wanted.some((word) => file.includes(word)))
  .filter((file) => !unwanted.some((word) => file.includes(word)))
  .sort();

const outcomes: Outcome[] = [];
const queue = files.values();
async function worker(): Promise<void> {
  for (const file of queue) {
    const outcome = await runFile(file);
    outcomes.push(outcome);
    report(outcome);
  }
}
await Promise.all(Array.from({ length: availableParallelism() }, worker));

const sum = (key: "passed" | "failed" | "skipped"): number => outcomes.reduce((total, outcome) => total + outcome[key], 0);
const broken = outcomes.filter((outcome) => outcome.failed > 0).map((outcome) => outcome.file);
if (files.length === 0) process.stdout.write(`no test file matches ${wanted.join(" ")}\n`);
if (broken.length > 0) process.stdout.write(`failed: ${broken.sort().join(", ")}\n`);
process.stdout.write(`${sum("passed")} passed, ${sum("failed")} failed${sum("skipped") > 0 ? `, ${sum("skipped")} skipped` : ""}\n`);
process.exitCode = files.length === 0 || broken.length > 0 ? 1 : 0;
