/**
 * Remembers the last decision about a text. Clients repeat their headers: to compare one text with the one before
 * costs less than to decide again, and less than to look it up.
 */
export function lastOf<T>(decide: (text: string) => T): (text: string) => T {
  let last: string | null = null;
  let decided: T;
  return (text) => {
    if (text !== last) {
      decided = decide(text);
      last = text;
    }
    return decided;
  };
}
