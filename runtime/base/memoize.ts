/**
 * Caches the result for the latest text only. Clients repeat their headers, and comparing a header with the one before
 * is cheaper than deciding again or looking it up in a map.
 */
export function memoizeLast<T>(decide: (text: string) => T): (text: string) => T {
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
