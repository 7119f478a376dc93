/** `toolsrv dev`: serves a catalog while it is written, and shows what each edit does. */
import { createSession } from "../../dev/session.js";
import { serveCatalogs } from "../../serve/serve.js";
import type { CommandModule } from "../command.js";

/** Read when no scenarios are named and it is there. */
const DEFAULT_SCENARIOS = "scenarios.yaml";

export const run: CommandModule["run"] = async ({ args: [catalog = "", scenarios], options }, io) => {
  const out = typeof options["out"] === "string" ? options["out"] : "out";
  const session = createSession({ catalog, scenarios: scenarios ?? DEFAULT_SCENARIOS, needsScenarios: scenarios !== undefined, out }, io);
  return serveCatalogs({ args: [catalog], options }, io, session);
};
