/** `toolsrv migrate`: a version 1 catalog as version 2, with every comment, quote and blank where it was. */
import { resolve } from "node:path";
import { CompilerBug } from "../../bug.js";
import { compile, readCatalog, type Compilation } from "../../compile.js";
import { compareSurfaces, type Surface } from "../../diff/compare.js";
import { surfaceOf } from "../../diff/surface.js";
import { unifiedDiff } from "../../edit/unified-diff.js";
import type { Diagnostic } from "../../ir.js";
import { migrate, type Migrated } from "../../migrate/migrate.js";
import { printDiagnostics, wantsColor } from "../../printers/print.js";
import { UsageError, type CommandModule, type Invocation, type Io } from "../command.js";
import { EXIT } from "../exit.js";

export const run: CommandModule["run"] = async (invocation, io) => {
  const { shown, write, same } = readOrder(invocation);
  const path = resolve(io.cwd, shown);
  const read = await readCatalog(io.host, path, shown);
  if (read.value === null) return refuse(read.diagnostics, null, null, io);
  const { text } = read.value;
  const before = compileText(shown, text);
  // What is no YAML cannot be edited; anything else the catalog may have wrong is for validate.
  if (before.source === null || before.diagnostics.some(({ code }) => SYNTAX.has(code))) return refuse(before.diagnostics, before.source, text, io);
  const migrated = same ? { text, lists: 0 } : migrate(text);
  if ("because" in migrated) {
    io.stderr.write(`toolsrv migrate: ${shown}:${migrated.line}: ${migrated.because}; change this place by hand\n`);
    return EXIT.USAGE;
  }
  mustMeanTheSame(before, compileText(shown, migrated.text));
  if (write && migrated.text !== text) await io.host.replace(path, `${await markOf(path, io)}${migrated.text}`);
  if (!write) io.stdout.write(unifiedDiff({ path: shown, text }, { path: shown, text: migrated.text }));
  io.stderr.write(`${report(shown, text, migrated, write)}\n`);
  return EXIT.OK;
};

/** The byte order mark of a file, which is no part of its text; "" where there is none. */
async function markOf(path: string, io: Io): Promise<string> {
  const [first, second, third] = (await io.host.read(path)) ?? [];
  return first === 0xef && second === 0xbb && third === 0xbf ? "\uFEFF" : "";
}

/** Codes of text that is not a YAML map. */
const SYNTAX: ReadonlySet<string> = new Set(["TS0001", "TS0003", "TS0004", "TS0005", "TS0009"]);

interface Order {
  readonly shown: string;
  readonly write: boolean;
  /** From a version to itself: nothing to do. */
  readonly same: boolean;
}

function readOrder({ args, options }: Invocation): Order {
  const [from, to] = [options["from"], options["to"]];
  for (const version of [from, to]) if (version !== "1" && version !== "2") throw new UsageError(`there is no catalog version '${String(version)}'; versions are 1 and 2`);
  if (from === "2" && to === "1") throw new UsageError("a catalog cannot be taken back to version 1");
  const [dry, write] = [options["dry-run"] === true, options["write"] === true];
  if (dry === write) throw new UsageError(dry ? "--dry-run and --write exclude each other" : "say --dry-run to see the change or --write to make it");
  return { shown: args[0] ?? "", write, same: from === to };
}

function compileText(path: string, text: string): Compilation {
  return compile({ path, text }, { target: "describe" });
}

/** A migration that changes what the catalog means is a bug, whatever the catalog. */
function mustMeanTheSame(before: Compilation, after: Compilation): void {
  if (before.value === null) return;
  if (after.value === null) throw new CompilerBug("the migrated catalog does not compile");
  const sides: readonly Surface[] = [before.value, after.value].map(({ plans }) => surfaceOf("", plans));
  const changes = compareSurfaces(sides[0] as Surface, sides[1] as Surface);
  if (changes.length > 0) throw new CompilerBug(`the migrated catalog means something else: ${changes[0]?.message ?? ""}`);
}

function report(shown: string, text: string, { text: migrated, lists }: Migrated, write: boolean): string {
  if (migrated === text) return `${shown} is version 2 already`;
  const what = `tds_version '2'${lists === 0 ? "" : `, ${lists} list${lists === 1 ? "" : "s"} of static filters under must`}`;
  return write ? `${shown} rewritten: ${what}` : `${shown} would get ${what}`;
}

function refuse(diagnostics: readonly Diagnostic[], source: Compilation["source"], text: string | null, io: Io): number {
  io.stderr.write(printDiagnostics("text", diagnostics, { source, text, color: wantsColor(io.stderr, io.env) }));
  return EXIT.USAGE;
}
