/** Texts of runs for a terminal: what is recorded is somebody else's, and must neither move the cursor nor fill the screen. */

/** 620 ms, 1.8 s, 2 m 5 s, 1 h 3 m. */
export function duration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  // Rounded first: 59.96 s is a minute.
  const tenths = Math.round(ms / 100);
  if (tenths < 600) return `${(tenths / 10).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${seconds % 60} s`;
  const minutes = Math.round(ms / 60_000);
  return `${Math.floor(minutes / 60)} h ${minutes % 60} m`;
}

/** No control characters, and one line. */
export function visible(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}\u2028\u2029]+/gu, " ");
}

/** Cut to some columns; every character counts as one. */
export function fit(text: string, columns: number): string {
  const characters = [...visible(text)];
  return characters.length <= columns ? characters.join("") : `${characters.slice(0, Math.max(0, columns - 1)).join("")}…`;
}

/** Cut to some columns at its start: what tells ids apart is at their end. */
export function fitEnd(text: string, columns: number): string {
  const characters = [...visible(text)];
  return characters.length <= columns ? characters.join("") : `…${characters.slice(1 - columns).join("")}`;
}
