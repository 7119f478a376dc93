/** `toolsrv introspect`: the schema of a connection's collections, as a file or on stdout. Reads the store only. */
import { exportText } from "../../schema/export.js";
import { collectionNames, introspect } from "../../schema/introspect.js";
import { openConnection } from "../../schema/open-connection.js";
import { UsageError, type CommandModule } from "../command.js";
import { EXIT } from "../exit.js";
import { refuseOverInputs, writeOutput } from "../write-output.js";

export const run: CommandModule["run"] = async (invocation, io) => {
  const { options } = invocation;
  const audit = options["audit"] === true;
  if (audit && options["out"] !== undefined) throw new UsageError("--audit prints the schema and writes nothing; leave out --out");
  await refuseOverInputs([options["out"]], invocation.args, io);
  const names = collectionNames(invocation);
  const opened = await openConnection(invocation, io, "introspect");
  if (typeof opened === "string") return opened === "no catalog" ? EXIT.USAGE : EXIT.LIVE;
  const schema = await introspect(opened, { command: "introspect", collections: names, redacted: options["redact-examples"] === true }, io);
  if (schema === null) return EXIT.LIVE;
  if (audit) {
    io.stdout.write(`${exportText(schema)}\n`);
    return EXIT.OK;
  }
  const out = typeof options["out"] === "string" ? options["out"] : "schema.json";
  await writeOutput(out, exportText(schema), io);
  const fields = schema.collections.reduce((sum, { fields: own }) => sum + own.length, 0);
  io.stderr.write(`wrote ${out}: ${schema.collections.length} collection(s), ${fields} field(s)\n`);
  return EXIT.OK;
};
