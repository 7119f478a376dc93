/** The fixture with a tool that never ends, whatever it is told. */
import { serve } from "../../runtime/serve/main.js";
import { fixtureProgram } from "../mcp/program.js";

await serve(fixtureProgram({}, { deaf: () => new Promise(() => undefined) }), process.argv.slice(2));
