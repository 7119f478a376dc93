/** Drafts that are 30 days old expire: when catalogs are loaded, and by the clock of a server that runs on. */
import { systemProblem } from "../../runtime/base/system-error.js";
import type { Io } from "../cli/command.js";
import { DraftsProblem } from "../drafts/drafts-file.js";
import { expireDrafts } from "../drafts/store.js";
import { visible } from "../drafts/untrusted.js";

/** How often a server looks for old drafts. A draft lives 30 days, so an hour more is nothing. */
export const LOOK_EVERY_MS = 3_600_000;

/** Calls back again and again; returns what ends that. */
export type Repeat = (callback: () => void, everyMs: number) => () => void;

/** Old drafts expire. A drafts file that cannot be used is reported and keeps no catalog from being served. */
export async function expire({ host, cwd, stderr }: Pick<Io, "host" | "cwd" | "stderr">): Promise<void> {
  try {
    const count = await expireDrafts(host, cwd);
    if (count > 0) stderr.write(`${count} draft${count === 1 ? "" : "s"} expired after 30 days\n`);
  } catch (error) {
    const problem = error instanceof DraftsProblem ? visible(error.message) : systemProblem(error);
    if (problem === null) throw error;
    stderr.write(`toolsrv serve: drafts: ${problem}\n`);
  }
}

/** Lets drafts expire while a server runs; returns what ends that. A file that stays unusable is reported once. */
export function keepExpiring(io: Pick<Io, "host" | "cwd" | "stderr">, repeat: Repeat = repeatUnreferenced): () => void {
  let said = "";
  const stderr: Io["stderr"] = {
    isTTY: io.stderr.isTTY,
    columns: io.stderr.columns,
    write(text) {
      if (text !== said) io.stderr.write(text);
      said = text;
    },
  };
  return repeat(() => void expire({ ...io, stderr }).catch((error: unknown) => stderr.write(`toolsrv serve: drafts: ${error instanceof Error ? error.message : String(error)}\n`)), LOOK_EVERY_MS);
}

/** A timer that keeps no process running. */
const repeatUnreferenced: Repeat = (callback, everyMs) => {
  const timer = setInterval(callback, everyMs);
  timer.unref();
  return () => clearInterval(timer);
};
