/** toolsrv with records of its calls, as a process: `node toolsrv-observed.js metrics,tracing COLLECTOR`. */
import type { Json } from "../../runtime/abi/plan.js";
import { serve } from "../../runtime/serve/main.js";
import { storeFreeProgram } from "../lib/program.js";

const [kinds = "", collector = ""] = process.argv.slice(2);
const all: { readonly [kind: string]: Json } = {
  metrics: { enabled: true },
  tracing: { exporter: "otlp", endpoint: collector, service_name: "bench", semconv: false },
};
const observability = Object.fromEntries(Object.entries(all).filter(([kind]) => kinds.split(",").includes(kind)));
await serve({ ...storeFreeProgram(6), settings: { observability } }, ["--http", "127.0.0.1:0", "--auth", "none", "--log-level", "warn"]);
