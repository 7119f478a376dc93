/**
 * `node dist/bench/profile.js [CASE]`: runs a case with V8's sampling profiler in every process of ours, keeps the
 * profiles in .cache/profile (DevTools and speedscope open them), and prints where each spent its time. The figures of
 * such a run are not those of the page: profiling costs time.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { repo } from "../test/lib/repo.js";

const FOLDER = repo(".cache/profile");
const SHOWN = 15;

interface Profile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number } }[];
  readonly samples: readonly number[];
  /** Microseconds between samples. */
  readonly timeDeltas: readonly number[];
}

const [name = "tools-call"] = process.argv.slice(2);
rmSync(FOLDER, { recursive: true, force: true });
mkdirSync(FOLDER, { recursive: true });
const runner = fileURLToPath(new URL(`./run${extname(fileURLToPath(import.meta.url))}`, import.meta.url));
const { status } = spawnSync(process.execPath, [...process.execArgv, "--cpu-prof", `--cpu-prof-dir=${FOLDER}`, runner, "--no-page", name], { stdio: "inherit" });
for (const file of readdirSync(FOLDER)) {
  const { title, lines } = summary(JSON.parse(readFileSync(join(FOLDER, file), "utf8")) as Profile);
  process.stdout.write(`\n.cache/profile/${file}: ${title}\n${lines.join("\n")}\n`);
}
// A goal missed under the profiler does not matter; a case that does not exist does.
process.exitCode = status === 2 ? 2 : 0;

/** The functions that took most time themselves, as shares of the time that was not spent waiting. */
function summary({ nodes, samples, timeDeltas }: Profile): { readonly title: string; readonly lines: readonly string[] } {
  const names = new Map(nodes.map(({ id, callFrame: { functionName, url, lineNumber } }) => [id, `${functionName || "(anonymous)"} ${url.split("/").slice(-2).join("/")}${url === "" ? "" : `:${lineNumber + 1}`}`]));
  const times = new Map<string, number>();
  for (const [index, id] of samples.entries()) {
    const label = names.get(id) ?? "";
    times.set(label, (times.get(label) ?? 0) + (timeDeltas[index] ?? 0));
  }
  const busy = [...times].filter(([label]) => label !== "(idle) ").sort(([, a], [, b]) => b - a);
  const all = busy.reduce((sum, [, time]) => sum + time, 0);
  return {
    title: `${(all / 1e6).toFixed(1)} s of JavaScript`,
    lines: busy.slice(0, SHOWN).map(([label, time]) => `${((100 * time) / all).toFixed(1).padStart(6)} %  ${label}`),
  };
}
