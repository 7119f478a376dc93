/** `make sample`: plays the sample's agent and writes what it did where `toolsrv trace demo` and the pages read it. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadMovies } from "../../e2e/quickstart.js";
import { repo } from "../../lib/repo.js";
import { playSample } from "./agent.js";
import { compactSample } from "./compact.js";
import { withPlans } from "./plans.js";

export const SAMPLE_FILE = repo("runtime/trace-ui/public/sample.json");

const folder = mkdtempSync(join(tmpdir(), "toolsrv-sample-"));
try {
  const sample = compactSample(await withPlans(await playSample({ server: repo("out/server.js"), envFile: await loadMovies(folder), pace: 1 })));
  const runs = sample.runs.map(({ ageMs, events }) => `{"ageMs":${ageMs},"events":[\n${events.map((event) => JSON.stringify(event)).join(",\n")}]}`);
  writeFileSync(SAMPLE_FILE, `{"runs":[\n${runs.join(",\n")}]}\n`);
  process.stdout.write(`${SAMPLE_FILE}: ${sample.runs.length} runs, ${sample.runs.reduce((sum, { events }) => sum + events.length, 0)} events\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
// The client of the server that hangs may still wait.
process.exit(0);
