/** `toolsrv trace …`: see generator/trace-cli, which is loaded when it runs. */
import type { CommandModule } from "../command.js";

export const run: CommandModule["run"] = async (invocation, io) => {
  const { runTraceCommand } = await import("../../trace-cli/main.js");
  return runTraceCommand(invocation, io);
};
