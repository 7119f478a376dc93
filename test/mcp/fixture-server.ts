/** The fixture program as a process: `node fixture-server.js [FLAGS]`. */
import { serve } from "../../runtime/serve/main.js";
import { fixtureProgram, stages } from "./program.js";

await serve(fixtureProgram({}, { stages }), process.argv.slice(2));
