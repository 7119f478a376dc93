/** The trace service as a process of its own, for the trace cases. */
import { traceRoutes } from "../../runtime/abi/trace.js";
import { serveTrace } from "../../runtime/serve/trace.js";
import { OPERATIONS } from "../../runtime/trace/api.gen.js";

await serveTrace({ routes: traceRoutes(OPERATIONS) }, process.argv.slice(2));
