/** toolsrv, as a process: `node toolsrv.js [TOOLS] [FLAGS]`. Its peers log nothing, so it logs no line a call either. */
import { serve } from "../../runtime/serve/main.js";
import { storeFreeProgram } from "../lib/program.js";

const [tools = "6", ...flags] = process.argv.slice(2);
await serve(storeFreeProgram(Number(tools)), ["--http", "127.0.0.1:0", "--auth", "none", "--log-level", "warn", ...flags]);
