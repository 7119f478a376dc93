/** Keeps other processes out of a folder of PGlite, which has no lock of its own that works across processes. */
import { open, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { BackendError } from "../../abi/errors.js";

const LOCK = "toolsrv.pid";

/**
 * Writes the number of this process into the folder; the file of a process that has ended is replaced.
 * @throws BackendError busy where another process has the folder, auth where nothing can be written
 */
export async function lockFolder(folder: string, name: string): Promise<void> {
  const file = join(folder, LOCK);
  for (let tries = 0; tries < 2; tries++) {
    try {
      const handle = await open(file, "wx");
      await handle.writeFile(String(process.pid));
      return await handle.close();
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw new BackendError("auth", "pgvector", `the folder '${name}' cannot be written to, which PGlite needs`, { cause: error });
    }
    const owner = Number(await readFile(file, "utf8").catch(() => ""));
    if (Number.isSafeInteger(owner) && owner > 0 && owner !== process.pid && isAlive(owner)) break;
    await rm(file, { force: true });
  }
  throw new BackendError("busy", "pgvector", `another process has the database in '${name}' open; PGlite allows one`);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}

export async function unlockFolder(folder: string): Promise<void> {
  await rm(join(folder, LOCK), { force: true });
}
