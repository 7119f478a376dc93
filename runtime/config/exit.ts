/** Exit codes of a server; the same numbers as the command line's, which this side must not load. */
export const EXIT = { OK: 0, USAGE: 2, LIVE: 3, BUG: 70 } as const;

/** A start that cannot go on for a reason the user can mend. */
export class StartError extends Error {
  override readonly name = "StartError";
  constructor(
    message: string,
    readonly exitCode: number = EXIT.USAGE,
  ) {
    super(message);
  }
}
