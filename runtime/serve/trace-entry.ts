/** The trace service behind the door of generated code: its rooms are loaded when it is served, not when the door is imported. */
import type { TraceRoutes } from "../abi/trace.js";

/** Serves traces with the words of the command line, and ends the process when the service has ended. */
export async function serveTrace(program: { readonly routes: TraceRoutes }, argv: readonly string[]): Promise<void> {
  const trace = await import("./trace.js");
  await trace.serveTrace(program, argv);
}
