/** The conformance build: the runtime as users run it, with the tools of the suites beside those of a program. */
import { serve } from "../../runtime/serve/main.js";
import { fixtureProgram } from "../mcp/program.js";
import { conformanceTools } from "./tools.js";

await serve({ ...fixtureProgram(), extra: conformanceTools() }, process.argv.slice(2));
