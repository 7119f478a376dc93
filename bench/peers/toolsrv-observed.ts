/** toolsrv with records of its calls, as a process: `node toolsrv-observed.js metrics,tracing,audit,chain COLLECTOR`. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Json } from "../../runtime/abi/plan.js";
import { serve } from "../../runtime/serve/main.js";
import { storeFreeProgram } from "../lib/program.js";

const [kinds = "", collector = ""] = process.argv.slice(2);
const all: { [kind: string]: Json } = {
  metrics: { enabled: true },
  tracing: { exporter: "otlp", endpoint: collector, service_name: "bench", semconv: false },
};
const wanted = kinds.split(",");
const chain = wanted.includes("chain");
// In a folder of its own for each process: a chain goes on where the file ends.
if (chain || wanted.includes("audit")) {
  const path = join(mkdtempSync(join(tmpdir(), "toolsrv-bench-")), "audit.jsonl");
  all["audit"] = { sink: "file", path, ...(chain ? { chain } : {}) };
}
const observability = Object.fromEntries(Object.entries(all).filter(([kind]) => kind === "audit" || wanted.includes(kind)));
const program = storeFreeProgram(6);
const certificates = Object.fromEntries(Object.keys(program.plans).map((tool) => [tool, `sha256:${"0".repeat(64)}`]));
await serve({ ...program, certificates, settings: { observability } }, ["--http", "127.0.0.1:0", "--auth", "none", "--log-level", "warn"]);
