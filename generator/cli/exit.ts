/** Exit codes, the only place they are written. `INTERRUPTED` and `TERMINATED` are 128 + the signal's number. */
export const EXIT = { OK: 0, FINDINGS: 1, USAGE: 2, LIVE: 3, BUG: 70, INTERRUPTED: 130, TERMINATED: 143 } as const;
