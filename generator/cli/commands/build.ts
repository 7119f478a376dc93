/** `toolsrv build`: catalogs → reviewable TypeScript and a server. */
import { build } from "../../build/build.js";
import { readOrder } from "../../build/order.js";
import type { CommandModule } from "../command.js";

export const run: CommandModule["run"] = async (invocation, io) => build(readOrder(invocation), io);
