/** Exit codes, the only place they are written. */
export const EXIT = { OK: 0, FINDINGS: 1, USAGE: 2, LIVE: 3, BUG: 70 } as const;
