/** The command line as a process of its own: `node toolsrv.js serve …`, from source or from dist/. */
import { main } from "../../generator/cli/main.js";

await main();
