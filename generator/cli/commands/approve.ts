/**
 * `toolsrv approve`: shows what a draft would change, then adds it to the catalog and marks it. Each of the two files is
 * replaced in one step, the catalog first; an approval that was interrupted between them is completed by running it again.
 */
import { resolve } from "node:path";
import { decodeCatalog } from "../../compile.js";
import { examineApproval, summaryOf, withApproval, type Approval } from "../../drafts/approve.js";
import { versionOf } from "../../drafts/append.js";
import { DraftsProblem, type DraftsFile } from "../../drafts/drafts-file.js";
import { baseOf, type Base, type ExaminedCatalog } from "../../drafts/examine.js";
import { withLock } from "../../drafts/lock.js";
import { approveCommand, DEFAULT_CATALOG, DRAFTS_FILE, type Issue } from "../../drafts/record.js";
import { draftsPath, expired, expireDrafts, loadDrafts, saveDrafts } from "../../drafts/store.js";
import { visible, visibleJson } from "../../drafts/untrusted.js";
import { unifiedDiff } from "../../edit/unified-diff.js";
import type { Diagnostic } from "../../ir.js";
import { printDiagnostics, wantsColor } from "../../printers/print.js";
import type { CommandModule, Invocation, Io } from "../command.js";
import { EXIT } from "../exit.js";

interface Order {
  readonly name: string;
  /** The catalog as the user wrote it. */
  readonly shown: string;
  readonly path: string;
  readonly approver: string;
}

/** A catalog that was read, with the bytes that it was read from. */
interface ReadCatalog {
  readonly bytes: Uint8Array;
  readonly base: Base;
}

export const run: CommandModule["run"] = async (invocation, io) => {
  const order = orderOf(invocation, io);
  try {
    const drafts = await loadDrafts(io.host, io.cwd);
    if (drafts === null) throw new DraftsProblem(`there is no ${DRAFTS_FILE} here, and so no draft '${order.name}'`);
    if (invocation.options["dry-run"] === true) return await dryRun(order, expired(drafts, io.host.now()), io);
    await expireDrafts(io.host, io.cwd);
    if (!(await io.host.exists(order.path))) throw noCatalog(order);
    const catalog = await io.host.realPath(order.path);
    return await withLock(io.host, draftsPath(io.cwd), () => withLock(io.host, catalog, () => approve(order, io)));
  } catch (error) {
    if (!(error instanceof DraftsProblem)) throw error;
    io.stderr.write(`toolsrv approve: ${visible(error.message)}\n`);
    return EXIT.USAGE;
  }
};

function orderOf({ args, options }: Invocation, { cwd, env }: Io): Order {
  const shown = typeof options["file"] === "string" ? options["file"] : DEFAULT_CATALOG;
  const approver = typeof options["approver"] === "string" ? options["approver"] : env["USER"] || "local-user";
  return { name: args[0] ?? "", shown, path: resolve(cwd, shown), approver };
}

async function dryRun(order: Order, drafts: DraftsFile, io: Io): Promise<number> {
  const read = await readCatalog(order, io);
  if (read === null) return EXIT.USAGE;
  const approval = examineApproval(drafts, order.name, read.base);
  if (approval.isDone) io.stderr.write(`${order.shown} has the tool already; the draft would be marked as approved\n`);
  else if (!show(approval, io)) return EXIT.USAGE;
  const { text } = read.base.source;
  io.stdout.write(unifiedDiff({ path: order.shown, text }, { path: order.shown, text: approval.result?.text ?? text }));
  io.stderr.write(`dry run: ${order.shown} and ${DRAFTS_FILE} are as they were\n`);
  return EXIT.OK;
}

/** With the locks of both files. */
async function approve(order: Order, io: Io): Promise<number> {
  const drafts = await loadDrafts(io.host, io.cwd);
  if (drafts === null) throw new DraftsProblem(`${DRAFTS_FILE} is gone`);
  const read = await readCatalog(order, io);
  if (read === null) return EXIT.USAGE;
  const approval = examineApproval(drafts, order.name, read.base);
  const by = { name: order.approver, nowMs: io.host.now() };
  if (approval.isDone) {
    await saveDrafts(io.host, io.cwd, withApproval(drafts, approval, by, versionOf(read.base.stock)));
    io.stderr.write(`${order.shown} has the tool already; the draft is marked as approved\n`);
    return EXIT.OK;
  }
  const { result } = approval;
  if (!show(approval, io) || result === null) return EXIT.USAGE;
  // Made first: what cannot be written down may not begin.
  const marked = withApproval(drafts, approval, by, result.version.after);
  await writeCatalog(order, read, result, io);
  await markDraft(order, marked, io);
  io.stderr.write(`${order.shown}: added ${order.name}; catalog version ${result.version.before ?? "none"} → ${result.version.after}\n`);
  return EXIT.OK;
}

const noCatalog = ({ shown }: Order): DraftsProblem => new DraftsProblem(`cannot read '${shown}': there is no such file; name the catalog with --file`);

async function readCatalog(order: Order, io: Io): Promise<ReadCatalog | null> {
  const { path, shown } = order;
  const bytes = await io.host.read(path);
  if (bytes === null) throw noCatalog(order);
  const { value, diagnostics } = decodeCatalog(bytes, shown);
  if (value === null) return refuse(diagnostics, null, io);
  // References to the environment stay open: approve reads no values.
  const { base, compilation } = baseOf(value, { target: "build" });
  return base === null ? refuse(compilation.diagnostics, { source: compilation.source, text: value.text }, io) : { bytes, base };
}

function refuse(diagnostics: readonly Diagnostic[], at: { readonly source: Parameters<typeof printDiagnostics>[2]["source"]; readonly text: string } | null, io: Io): null {
  io.stderr.write(printDiagnostics("text", diagnostics, { source: at?.source ?? null, text: at?.text ?? null, color: wantsColor(io.stderr, io.env) }));
  io.stderr.write("toolsrv approve: the catalog has errors of its own; correct them first\n");
  return null;
}

/** Prints what the approver decides on; false after the errors of a draft that cannot be approved. */
function show(approval: Approval, { stderr }: Io): boolean {
  const errors = approval.issues.filter(({ severity }) => severity === "error");
  if (approval.result === null || errors.length > 0) {
    for (const issue of errors) stderr.write(`${lineOf(issue)}\n`);
    stderr.write("toolsrv approve: the draft is refused; the catalog and the draft are as they were\n");
    return false;
  }
  stderr.write(`${visibleJson(summaryOf(approval, approval.result))}\n`);
  return true;
}

function lineOf({ severity, code, path, message }: Issue): string {
  return visible(`${severity.toUpperCase()} ${code} ${path ?? ""}: ${message}`);
}

/** An editor knows no lock: the file is read again at the last moment. */
async function writeCatalog({ path, shown }: Order, { bytes }: ReadCatalog, { text }: ExaminedCatalog, { host }: Io): Promise<void> {
  const now = await host.read(path);
  if (now === null || Buffer.compare(now, bytes) !== 0) throw new DraftsProblem(`${shown} was changed meanwhile; nothing was written. Run it again`);
  const mark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? "\uFEFF" : "";
  await host.replace(path, `${mark}${text}`);
}

async function markDraft({ shown, name }: Order, text: string, { host, cwd, stderr }: Io): Promise<void> {
  try {
    await saveDrafts(host, cwd, text);
  } catch (error) {
    stderr.write(`toolsrv approve: ${shown} has the tool now, but the draft could not be marked. When ${DRAFTS_FILE} can be written, run it again: ${approveCommand(name, shown)}\n`);
    throw error;
  }
}
