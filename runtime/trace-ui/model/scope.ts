/** Times and scopes as the service takes them. */

/** The moment so many minutes ago; "" for any time. */
export function startOf(minutes: number, nowMs: number): string {
  return minutes === 0 ? "" : new Date(nowMs - minutes * 60_000).toISOString();
}

/** A scope as the service takes it. `minutes:N` is known to the pages alone: for the service it is a moment. */
export function scopeParams(scope: string, nowMs: number): { readonly [name: string]: string } {
  const minutes = /^minutes:([1-9]\d{0,6})$/.exec(scope)?.[1];
  if (minutes === undefined) return { scope };
  // To the minute, so that the same scope asks for the same.
  return { scope: "all", from: startOf(Number(minutes), Math.floor(nowMs / 60_000) * 60_000) };
}
