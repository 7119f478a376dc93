/** Exit codes of a server; the same numbers as the command line's, which this side must not load. 70 is for bugs. */
export const EXIT = { OK: 0, USAGE: 2, LIVE: 3, BUG: 70 } as const;

/** Startup error that the user can fix. */
export class StartError extends Error {
  override readonly name = "StartError";
  constructor(
    message: string,
    readonly exitCode: number = EXIT.USAGE,
  ) {
    super(message);
  }
}
