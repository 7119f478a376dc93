/** Dotted paths into plain JSON records. Own keys only: a path can never reach a prototype. */

/** The value at a path walked through objects, `undefined` where it leads nowhere. */
export function readPath(record: unknown, path: string): unknown {
  if (!path.includes(".")) return readKey(record, path);
  let value = record;
  for (const key of path.split(".")) {
    value = readKey(value, key);
    if (value === undefined) return undefined;
  }
  return value;
}

/** What output shows for a path: the walked value, else a key that itself holds the dots (flat stores have such). */
export function readField(record: unknown, path: string): unknown {
  const walked = readPath(record, path);
  return walked !== undefined || !path.includes(".") ? walked : readKey(record, path);
}

function readKey(value: unknown, key: string): unknown {
  return isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

/** A JSON object; not a list, not null. */
export function isRecord(value: unknown): value is { readonly [key: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Whether `path` is `root` or lies under it: `a.b` covers `a.b` and `a.b.c`, not `a.bc`. */
export function covers(root: string, path: string): boolean {
  return path === root || (path.length > root.length && path.startsWith(root) && path.charAt(root.length) === ".");
}
