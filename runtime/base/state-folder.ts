/** Where the servers of a user keep what must survive them: logins, the access secret, traces. */
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** `~/.toolsrv`; null where the user has no home folder. A relative one would put secrets into the working directory. */
export function stateFolder(home: string = homedir()): string | null {
  return isAbsolute(home) ? join(home, ".toolsrv") : null;
}

/** The startup error without such a folder. `what` would be in it, and `flag` names another place where there is one. */
export function noStateFolder(what: string, flag?: string): string {
  return `there is no place for ${what}: HOME is empty or no absolute path; set it to a folder that only this user can read${flag === undefined ? "" : `, or name a folder with ${flag}`}`;
}

export const NO_STATE_FOLDER = noStateFolder("the login store");
