/** The gate of commands that may still change. */
import { UsageError, type Invocation } from "./command.js";

/** @throws UsageError without --experimental */
export function requireExperimental({ options }: Invocation, command: string): void {
  if (options["experimental"] !== true) throw new UsageError(`${command} is experimental and may still change; add --experimental to run it`);
}
