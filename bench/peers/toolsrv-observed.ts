/** toolsrv with records of its calls, as a process: `node toolsrv-observed.js audit,metrics,tracing COLLECTOR FOLDER`. */
import { join } from "node:path";
import { serve } from "../../runtime/serve/main.js";
import { observedBench } from "../lib/observed.js";

const [kinds = "", collector = "", folder = "."] = process.argv.slice(2);
// A file for each list of kinds: a chain goes on where its file ends, and other records would break it.
await serve(observedBench(kinds, { collector, auditFile: join(folder, `${kinds}.jsonl`) }), ["--http", "127.0.0.1:0", "--auth", "none", "--log-level", "warn"]);
