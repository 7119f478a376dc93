/** `toolsrv audit verify`: checks the files of access evidence (observability.audit.chain). */
import { resolve } from "node:path";
import type { ChainReport } from "../../../runtime/observe/audit/verify.js";
import { UsageError, type CommandModule } from "../command.js";
import { EXIT } from "../exit.js";

export const run: CommandModule["run"] = async ({ args: [command = "", ...files], options }, io) => {
  if (command !== "verify") throw new UsageError(`audit takes verify, not '${command}'`);
  if (files.length === 0) throw new UsageError("audit verify takes the files of the chain, oldest first");
  const { verifyChain } = await import("../../../runtime/observe/audit/verify.js");
  const chunks = (shown: string) => io.host.stream(resolve(io.cwd, shown)) as AsyncIterable<Uint8Array>;
  const report = await verifyChain(files.map((shown) => ({ name: shown, chunks: chunks(shown) })), anchorOf(options["head"]));
  io.stdout.write(options["json"] === true ? `${JSON.stringify(report, null, 2)}\n` : textOf(report));
  return report.ok ? EXIT.OK : EXIT.FINDINGS;
};

function anchorOf(head: string | boolean | undefined): string | null {
  if (typeof head !== "string") return null;
  const digits = head.toLowerCase().replace(/^sha256:/, "");
  if (!/^[0-9a-f]{64}$/.test(digits)) throw new UsageError(`--head takes the hash of a record, 64 hex digits, not '${head}'`);
  return digits;
}

function textOf({ ok, records, calls, lost, first, head, problems, more }: ChainReport): string {
  const lines = problems.map(({ file, line, message }) => `${file}${line === null ? "" : `:${line}`}: ${line === null ? "" : "this line "}${message}`);
  if (more > 0) lines.push(`… and ${more} more`);
  lines.push(`${ok ? "ok" : "broken"}: ${records} records, ${calls} of them calls`);
  if (first !== null && first > 0) lines.push(`begins at record ${first}: the files before it were not given`);
  if (lost > 0) lines.push(`${lost} records were dropped while it was written, as the chain itself says`);
  if (head !== null) lines.push(`last record: ${head.seq}, hash ${head.hash}`);
  return `${lines.join("\n")}\n`;
}
