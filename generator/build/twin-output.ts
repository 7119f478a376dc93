/** The twin of a build: a second output folder with the same program over made-up rows, proven as the first one is. */
import { UsageError, type Invocation, type Io } from "../cli/command.js";
import { isWithin, outputFolder, type Built, type Catalog } from "./order.js";
import { printFiles, type Printed } from "./print-files.js";

/** The twin in memory, and the folder it belongs to. */
export interface TwinOutput {
  /** As the user wrote it. */
  readonly shown: string;
  /** Absolute. */
  readonly folder: string;
  readonly printed: Printed;
}

/**
 * Makes the twin; null after the problems of its scenarios were printed. No value of an environment is read, so none can
 * get into its files.
 * @throws UsageError for a folder that is not its own, and for a schema export or a seed that cannot be used
 */
export async function makeTwin(shown: string, options: Invocation["options"], out: string, built: readonly Built[], catalogs: readonly Catalog[], io: Io): Promise<TwinOutput | null> {
  const folder = await outputFolder({ out: shown }, catalogs, io, "--twin");
  if (isWithin(out, folder) || isWithin(folder, out)) throw new UsageError(`--twin needs a folder outside of --out, and '${shown}' shares its files`);
  const { readTwinParts, twinRowsText } = await import("../twin/open.js");
  const parts = await readTwinParts({ options }, io);
  const rows: string[] = [];
  for (const compiled of built) {
    const text = await twinRowsText({ compiled, env: new Map(), shown: compiled.shown, parts }, options["scenarios"], io);
    if (text === null) return null;
    rows.push(text);
  }
  return { shown, folder, printed: await printFiles(built, folder, { trace: false, rows }, io.host) };
}
