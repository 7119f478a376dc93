/** `toolsrv drift`: a stored schema export against the store as it is now. Never edits the catalog. */
import { resolve } from "node:path";
import { driftReport, driftText } from "../../schema/drift.js";
import { readExport, type SchemaExport } from "../../schema/export.js";
import { introspect } from "../../schema/introspect.js";
import { openConnection } from "../../schema/open-connection.js";
import { usesOf } from "../../schema/uses.js";
import { UsageError, type CommandModule, type Io } from "../command.js";
import { EXIT } from "../exit.js";
import { requireExperimental } from "../experimental.js";
import { refuseOverInputs, writeOutput } from "../write-output.js";

export const run: CommandModule["run"] = async (invocation, io) => {
  const { args, options } = invocation;
  requireExperimental(invocation, "drift");
  await refuseOverInputs([options["out"]], args, io);
  const file = args[1] ?? "";
  const before = await readSchema(file, io);
  const opened = await openConnection(invocation, io, "drift");
  if (typeof opened === "string") return opened === "no catalog" ? EXIT.USAGE : EXIT.LIVE;
  const after = await introspect(opened, { command: "drift", collections: null, redacted: true }, io);
  if (after === null) return EXIT.LIVE;
  if (before.backend !== after.backend) io.stderr.write(`toolsrv drift: ${file} is of a ${before.backend} connection, '${after.connection}' is ${after.backend}\n`);
  const report = driftReport(before, after, usesOf(opened.resolved), file);
  const out = typeof options["out"] === "string" ? options["out"] : "toolsrv-drift.json";
  await writeOutput(out, `${JSON.stringify(report, null, 2)}\n`, io);
  io.stdout.write(driftText(report));
  io.stderr.write(`wrote ${out}\n`);
  return report.has_drift ? EXIT.FINDINGS : EXIT.OK;
};

async function readSchema(file: string, io: Io): Promise<SchemaExport> {
  const bytes = await io.host.read(resolve(io.cwd, file));
  if (bytes === null) throw new UsageError(`cannot read '${file}': there is no such file; toolsrv introspect writes one`);
  const read = readExport(Buffer.from(bytes).toString("utf8"));
  if ("problem" in read) throw new UsageError(`'${file}' is no schema export: ${read.problem}`);
  return read;
}
