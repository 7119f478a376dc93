/** The folders that a build writes beside its output, the Python package and the twin: written, compared, reported. */
import type { Emission, FileReport, Refusal } from "../5-emit/write.js";
import type { Io } from "../cli/command.js";
import { checkPython, writePython, type PythonPackage } from "./python-output.js";
import type { TwinOutput } from "./twin-output.js";

export interface Folders {
  readonly python: PythonPackage | null;
  readonly twin: TwinOutput | null;
}

/** What was written, by the flags of the folders. */
export interface Written {
  readonly python?: FolderReport;
  readonly twin?: FolderReport;
}

/** A folder that was not written. */
export interface RefusedFolder extends Refusal {
  readonly shown: string;
  readonly flag: string;
}

/** What a build did to the folder, or what `--check` found. */
export interface FolderReport {
  readonly out: string;
  readonly files: readonly FileReport[];
  readonly drift: readonly string[];
  readonly foreign: readonly string[];
}

/** What `--check` found in a folder, with the diffs of the files that differ. */
export interface FolderCheck {
  readonly shown: string;
  /** `--python` or `--twin` */
  readonly flag: string;
  /** What imports reach: "the package" or "the twin". */
  readonly what: string;
  readonly drift: ReadonlyMap<string, string>;
  readonly foreign: readonly string[];
}

/** Writes the folders; nothing of anybody else's is touched, and each arrives whole or not at all. */
export async function writeBeside({ python, twin }: Folders, emission: Emission, { host, signal }: Io): Promise<Written | RefusedFolder> {
  const written: { python?: FolderReport; twin?: FolderReport } = {};
  if (python !== null) {
    const files = await writePython(python, host, signal);
    if ("refused" in files) return { ...files, shown: python.shown, flag: "--python" };
    written.python = { out: python.shown, files, drift: [], foreign: [] };
  }
  if (twin !== null) {
    const { writeToDisk } = await import("../5-emit/write.js");
    const files = await writeToDisk(host, twin.folder, twin.printed.files, emission, signal);
    if ("refused" in files) return { ...files, shown: twin.shown, flag: "--twin" };
    written.twin = { out: twin.shown, files: files.map(({ path, action }) => ({ path, action })), drift: [], foreign: [] };
  }
  return written;
}

/** The folders, each compared with what this build would write there. */
export async function checkBeside({ python, twin }: Folders, { host }: Io): Promise<readonly FolderCheck[]> {
  const checks: FolderCheck[] = [];
  if (python !== null) checks.push({ shown: python.shown, flag: "--python", what: "the package", ...(await checkPython(python, host)) });
  if (twin !== null) {
    const { checkOutput } = await import("../5-emit/check-output.js");
    const { drift, foreign } = await checkOutput(host, twin.folder, twin.printed.files);
    checks.push({ shown: twin.shown, flag: "--twin", what: "the twin", drift, foreign });
  }
  return checks;
}

export function reportOf({ shown, drift, foreign }: FolderCheck): FolderReport {
  return { out: shown, files: [], drift: [...drift.keys()], foreign };
}

/** The same for a reader: diffs for standard output, and the lines for standard error. */
export function checkText({ shown, flag, what, drift, foreign }: FolderCheck, catalogs: string): { readonly diffs: string; readonly notes: string } {
  const differs = drift.size === 1 ? "1 file differs" : `${drift.size} files differ`;
  const notes = [
    ...foreign.map((path) => `${shown}/${path}: not of this build, but imports of ${what} can reach it; remove it\n`),
    ...(drift.size > 0 ? [`${shown} is out of date: ${differs}; run the build with ${flag} ${shown}\n`] : []),
    ...(drift.size === 0 && foreign.length === 0 ? [`${shown} is up to date with ${catalogs}\n`] : []),
  ];
  return { diffs: [...drift.values()].join(""), notes: notes.join("") };
}
