/** Where the servers of a user keep what must survive them: logins, the access secret. */
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** `~/.toolsrv`; null where the user has no home folder. A relative one would put secrets into the working directory. */
export function stateFolder(home: string = homedir()): string | null {
  return isAbsolute(home) ? join(home, ".toolsrv") : null;
}

export const NO_STATE_FOLDER = "there is no place for the login store: HOME is empty or no absolute path; set it to a folder that only this user can read";
