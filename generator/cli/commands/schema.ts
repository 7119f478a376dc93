/** `toolsrv schema`: the JSON Schema (draft-07) of the catalog, for editors and other programs. */
import { tdsSchema } from "../../compile.js";
import { UsageError, type CommandModule } from "../command.js";
import { EXIT } from "../exit.js";

export const run: CommandModule["run"] = async ({ options }, io) => {
  const version = options["version"];
  if (version !== undefined && version !== "1" && version !== "2") throw new UsageError(`--version is 1 or 2, not '${String(version)}'`);
  // Both versions have the same keys; a schema for one of them only fixes what tds_version may be.
  const { properties } = tdsSchema;
  const schema = version === undefined ? tdsSchema : { ...tdsSchema, properties: { ...properties, tds_version: { ...properties?.["tds_version"], enum: [version], default: version } } };
  io.stdout.write(`${JSON.stringify(schema, null, 2)}\n`);
  return EXIT.OK;
};
