/** `toolsrv diff`: what a change of a catalog means to those who call it, and to those it keeps apart. */
import { CHANGE_CLASSES, type ChangeClass } from "../../diff/change.js";
import { compareServers, type Surface } from "../../diff/compare.js";
import { DIFF_FORMATS, printChanges, type DiffFormat } from "../../diff/print.js";
import { readSide } from "../../diff/surface.js";
import { printDiagnostics, wantsColor } from "../../printers/print.js";
import { UsageError, type CommandModule, type Invocation, type Io } from "../command.js";
import { EXIT } from "../exit.js";

export const run: CommandModule["run"] = async (invocation, io) => {
  const format = formatOf(invocation);
  const failOn = failOnOf(invocation);
  const [old, next] = [await load(invocation.args[0] ?? "", io), await load(invocation.args[1] ?? "", io)];
  if (old === null || next === null) return EXIT.USAGE;
  const changes = compareServers(old, next);
  io.stdout.write(printChanges(format, changes, next));
  return changes.some((change) => failOn.includes(change.class)) ? EXIT.FINDINGS : EXIT.OK;
};

function formatOf({ options }: Invocation): DiffFormat {
  const asked = options["format"] ?? "text";
  const format = DIFF_FORMATS.find((name) => name === asked);
  if (format === undefined) throw new UsageError(`--format is one of ${DIFF_FORMATS.join(", ")}, not '${String(asked)}'`);
  return format;
}

function failOnOf({ options }: Invocation): readonly ChangeClass[] {
  const asked = options["fail-on"];
  if (typeof asked !== "string") return [];
  return asked.split(",").map((word) => {
    const found = CHANGE_CLASSES.find((kind) => kind === word.trim());
    if (found === undefined) throw new UsageError(`--fail-on takes ${CHANGE_CLASSES.join(", ")}, not '${word.trim()}'`);
    return found;
  });
}

async function load(side: string, io: Io): Promise<readonly [Surface, ...Surface[]] | null> {
  const read = await readSide(side, io);
  if ("surfaces" in read) return read.surfaces;
  if (read.kind === "message") io.stderr.write(`toolsrv diff: ${read.message}\n`);
  else io.stderr.write(printDiagnostics("text", read.diagnostics, { source: read.source, text: read.text, color: wantsColor(io.stderr, io.env) }));
  return null;
}
