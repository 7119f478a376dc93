/** The trace service as generated code starts it: its code is loaded when it is served, not when toolsrv/runtime/v1 is imported. */
import type { TraceRoutes } from "../abi/trace.js";

/** Parameters, bodies and answers of each operation of the service, by its id. */
export type { operations as TraceOperations } from "../trace/api.types.gen.js";

/** Serves traces with the arguments of the command line, and ends the process when the service has ended. */
export async function serveTrace(program: { readonly routes: TraceRoutes }, argv: readonly string[]): Promise<void> {
  const trace = await import("./trace.js");
  await trace.serveTrace(program, argv);
}
