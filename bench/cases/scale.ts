/** The compiler over generated catalogs: time and memory of whole commands against their budgets, and whether cost grows evenly. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawn } from "node:child_process";
import { compile } from "../../generator/compile.js";
import { repo } from "../../test/lib/repo.js";
import { catalogOf, smallTool } from "../lib/catalog.js";
import { atMost, inTurn, median, versus, type BenchCase, type Comparison } from "../lib/case.js";

const ROUNDS = 3;
const GROWTH_ROUNDS = 3;
const LARGEST = 3000;
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
        await growth(),
      ];
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
};

interface Measured {
  readonly ms: readonly number[];
  /** Of a Node that does nothing, in turn. */
  readonly floorMs: readonly number[];
  /** On all cores together. */
  readonly cpuMs: readonly number[];
  /** Highest of the rounds. */
  readonly peakMb: number;
}

async function measure(run: () => Promise<Ended>, rounds = ROUNDS): Promise<Measured> {
  const { ours, peer } = await inTurn(rounds, { ours: run, peer: () => ended(["-e", "0"], tmpdir()) });
  return { ms: ours.map(({ ms }) => ms), floorMs: peer.map(({ ms }) => ms), cpuMs: ours.map(({ cpuMs }) => cpuMs), peakMb: Math.max(...ours.map(({ peakKb }) => peakKb)) / 1024 };
}

function against(what: string, { ms, floorMs, cpuMs, peakMb }: Measured, budgetMs: number): Comparison {
  const times = median(ms.map((each, round) => each / (floorMs[round] ?? Number.NaN)));
  return atMost(what, ms, budgetMs, "ms", [`${times.toFixed(1)} times a \`node -e 0\` in turn, which took ${median(floorMs).toFixed(0)} ms; CPU time ${median(cpuMs).toFixed(0)} ms; peak memory ${peakMb.toFixed(0)} MB`]);
}

/** Time a tool in one process, warm: with even growth it is the same for every size. Small tools, as a file ends at 1 MB. */
async function growth(): Promise<Comparison> {
  const perTool = (tools: number): (() => Promise<number>) => {
    const text = catalogOf(tools, smallTool);
    // As many tools a round for every size, so that a short stall weighs the same.
    const times = Math.round(LARGEST / tools);
    return async () => {
      const started = performance.now();
      for (let time = 0; time < times; time++) {
        const { value } = compile({ path: "tools.yaml", text });
        if (value === null) throw new Error(`the catalog of ${tools} tools does not compile`);
      }
      return (performance.now() - started) / (tools * times);
    };
  };
  const [small, large] = [perTool(100), perTool(LARGEST)];
  await small();
  const rounds = await inTurn(GROWTH_ROUNDS, { ours: large, peer: small });
  const others = await inTurn(GROWTH_ROUNDS, { ours: perTool(1000), peer: perTool(10) });
  const notes = [`10 tools: ${median(others.peer).toFixed(3)} ms a tool, 1,000 tools: ${median(others.ours).toFixed(3)} ms a tool`];
  return versus("compile, time a tool at 3,000 tools", "at 100 tools", "ms", rounds, { atMost: 1.5 }, notes);
}

interface Ended {
  readonly ms: number;
  readonly peakKb: number;
  readonly cpuMs: number;
}

/** One command of ours. */
function command(words: readonly string[], cwd: string): Promise<Ended> {
  return ended(["--", repo("bin/toolsrv"), ...words], cwd);
}

/** A separate Node process, which reports its peak memory and CPU time when it ends. */
function ended(words: readonly string[], cwd: string): Promise<Ended> {
  const tell = "process.on('exit',()=>{const{maxRSS,userCPUTime,systemCPUTime}=process.resourceUsage();process.stderr.write(`\\nused ${maxRSS} ${userCPUTime+systemCPUTime}`)})";
  const started = performance.now();
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["--import", `data:text/javascript,${encodeURIComponent(tell)}`, ...words], { cwd, env: { ...process.env, HOME: cwd }, stdio: ["ignore", "ignore", "pipe"] });
    let text = "";
    child.stderr.on("data", (chunk) => (text += String(chunk)));
    child.on("error", reject);
    child.on("close", (code) => {
      const ms = performance.now() - started;
      const [, peakKb, cpuUs] = /used (\d+) (\d+)$/.exec(text) ?? [];
      if (code === 0 && peakKb !== undefined) resolve({ ms, peakKb: Number(peakKb), cpuMs: Number(cpuUs) / 1000 });
      else reject(new Error(`node ${words.join(" ")} ended with ${code}: ${text}`));
    });
  });
}
