/** The compiler over generated catalogs: time and memory of whole commands against their budgets, and whether cost grows evenly. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawn } from "node:child_process";
import { compile } from "../../generator/compile.js";
import { repo } from "../../test/lib/repo.js";
import { catalogOf, smallTool } from "../lib/catalog.js";
import { atMost, median, versus, type BenchCase, type Comparison } from "../lib/case.js";

const ROUNDS = 3;
/** The budget of every command, whatever the catalog. */
const PEAK_MB = 400;

export const scale: BenchCase = {
  name: "scale",
  summary: "validate and build of generated catalogs, against their budgets; cost a tool from 10 to 3,000 tools",
  async run() {
    const folder = mkdtempSync(join(tmpdir(), "toolsrv-scale-"));
    try {
      const file = (tools: number, toolText?: (index: number) => string): string => {
        const path = join(folder, `tools-${tools}.yaml`);
        writeFileSync(path, catalogOf(tools, toolText));
        return path;
      };
      const out = (name: string): string => join(folder, name);
      let build = 0;
      const fresh = (path: string) => () => command(["build", path, "--out", out(`out-${build++}`)], folder);
      const [hundred, threeHundred, thousand, threeThousand] = [file(100), file(300), file(1000), file(3000, smallTool)];
      await command(["build", threeHundred, "--out", out("again")], folder);
      const large = await measure(fresh(threeThousand), 1);
      return [
        against("toolsrv build, 100 tools", await measure(fresh(hundred)), 2000),
        against("toolsrv build, 300 tools", await measure(fresh(threeHundred)), 4000),
        against("toolsrv build, 300 tools, unchanged", await measure(() => command(["build", threeHundred, "--out", out("again")], folder)), 500),
        against("toolsrv validate, 1,000 tools", await measure(() => command(["validate", thousand], folder)), 1500),
        atMost("toolsrv build, 3,000 small tools, peak memory", large.peakMb, PEAK_MB, "MB", [`in ${median(large.ms).toFixed(0)} ms`]),
        growth(),
      ];
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};

interface Measured {
  readonly ms: readonly number[];
  /** Highest of the rounds. */
  readonly peakMb: number;
}

async function measure(run: () => Promise<Ended>, rounds = ROUNDS): Promise<Measured> {
  const ended: Ended[] = [];
  for (let round = 0; round < rounds; round++) ended.push(await run());
  return { ms: ended.map(({ ms }) => ms), peakMb: Math.max(...ended.map(({ peakKb }) => peakKb)) / 1024 };
}

function against(what: string, { ms, peakMb }: Measured, budgetMs: number): Comparison {
  return atMost(what, ms, budgetMs, "ms", [`peak memory ${peakMb.toFixed(0)} MB`]);
}

/** Time a tool in one process, warm: with even growth it is the same for every size. Small tools, as a file ends at 1 MB. */
function growth(): Comparison {
  const perTool = (tools: number): readonly number[] => {
    const text = catalogOf(tools, smallTool);
    return Array.from({ length: ROUNDS }, () => {
      const started = performance.now();
      const { value } = compile({ path: "tools.yaml", text }, { interpolation: { mode: "defer" } });
      if (value === null) throw new Error(`the catalog of ${tools} tools does not compile`);
      return (performance.now() - started) / tools;
    });
  };
  perTool(100);
  const times = [10, 100, 1000, 3000].map((tools) => ({ tools, ms: perTool(tools) }));
  const [peer, ours] = [times[1]?.ms ?? [], times[3]?.ms ?? []];
  const notes = [times.map(({ tools, ms }) => `${tools} tools: ${median(ms).toFixed(3)} ms a tool`).join(", ")];
  return versus("compile, time a tool at 3,000 tools", "at 100 tools", "ms", { ours, peer }, { atMost: 1.5 }, notes);
}

interface Ended {
  readonly ms: number;
  readonly peakKb: number;
}

/** One command in a process of its own, which tells its peak memory when it ends. */
function command(words: readonly string[], cwd: string): Promise<Ended> {
  const tell = "process.on('exit',()=>process.stderr.write('\\npeak '+process.resourceUsage().maxRSS))";
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["--import", `data:text/javascript,${encodeURIComponent(tell)}`, "--", repo("bin/toolsrv"), ...words], { cwd, env: { ...process.env, HOME: cwd }, stdio: ["ignore", "ignore", "pipe"] });
    let text = "";
    child.stderr.on("data", (chunk) => (text += String(chunk)));
    child.on("error", reject);
    child.on("close", (code) => {
      const ms = performance.now() - started;
      if (code === 0) resolve({ ms, peakKb: Number(/peak (\d+)/.exec(text)?.[1] ?? 0) });
      else reject(new Error(`toolsrv ${words.join(" ")} ended with ${code}: ${text}`));
    });
  });
}
