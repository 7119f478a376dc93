/** The catalog with a skill as a process that anybody may call: `node skill-server.js [FLAGS]`. */
import { serve } from "../../runtime/serve/main.js";
import { skillProgram } from "./skill-program.js";

await serve(await skillProgram({ security: undefined }), process.argv.slice(2));
