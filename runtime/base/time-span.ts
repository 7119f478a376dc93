/**
 * A span of time on the wall clock, which may be set back. What counts until a time alone would then count for hours
 * longer than it should; a span ends, too, when the clock shows a time before its beginning.
 */

/** Milliseconds since the epoch. */
export interface TimeSpan {
  readonly from: number;
  readonly until: number;
}

/** No time is within it. */
export const NEVER: TimeSpan = { from: 0, until: 0 };

/** The span that begins now. */
export function spanOf(now: number, lengthMs: number): TimeSpan {
  return { from: now, until: now + lengthMs };
}

export function isWithin(now: number, { from, until }: TimeSpan): boolean {
  return from <= now && now < until;
}
