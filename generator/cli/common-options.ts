/** What several commands of the table take. */
import type { OptionSpec } from "./command.js";

export const ENV_FILE: OptionSpec = { name: "env-file", alias: "env", value: "FILE", help: "values for ${VAR}, also as --env; the process environment is not read" };
export const CATALOG = { name: "TOOLS.yaml", required: true } as const;
