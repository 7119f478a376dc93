/** The trace service as a program, for tests that kill it. */
import { traceRoutes } from "../../runtime/abi/trace.js";
import { serveTrace } from "../../runtime/serve/trace.js";
import { OPERATIONS } from "../../runtime/trace/api.gen.js";

await serveTrace({ routes: traceRoutes(OPERATIONS) }, process.argv.slice(2));
