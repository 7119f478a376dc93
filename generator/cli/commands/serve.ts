/**
 * `toolsrv serve`: compiles catalogs in memory and hands the same programs to the runtime that `out/server.js` would
 * hand it. From there on the two are one.
 */
import { serveCatalogs } from "../../serve/serve.js";
import type { CommandModule } from "../command.js";

export const run: CommandModule["run"] = (invocation, io) => serveCatalogs(invocation, io);
