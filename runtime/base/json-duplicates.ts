/** Names that a JSON text gives twice: JSON.parse silently keeps the last, and a reader of the file may have meant the first. */

/** A name that is twice in one object. */
export interface DuplicateName {
  readonly name: string;
  /** 1 is the object itself, 2 an object in it. */
  readonly depth: number;
  readonly line: number;
}

const TOKENS = /"(?:[^"\\]|\\.)*"|[{}[\],:]|\n/g;

/** The first duplicate of a valid JSON text, or `null`. */
export function firstDuplicate(text: string): DuplicateName | null {
  const open: (Set<string> | null)[] = [];
  let line = 1;
  let pending: string | null = null;
  for (const [token] of text.matchAll(TOKENS)) {
    if (token === "\n") line += 1;
    else if (token === "{") open.push(new Set());
    else if (token === "[") open.push(null);
    else if (token === "}" || token === "]") open.pop();
    else if (token === ":" && pending !== null) {
      const names = open.at(-1);
      const name = JSON.parse(pending) as string;
      if (names?.has(name) === true) return { name, depth: open.length, line };
      names?.add(name);
    }
    if (token !== "\n") pending = token.startsWith('"') ? token : null;
  }
  return null;
}
