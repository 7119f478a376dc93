/** Any value as JSON text: cycles, depth, and what JSON has no word for are written as short texts. Never throws. */

const MAX_DEPTH = 60;

/** JSON that `JSON.stringify` can take. */
export function plain(value: unknown, depth = 0, above: readonly object[] = []): unknown {
  switch (typeof value) {
    case "string":
    case "boolean":
      return value;
    case "number":
      return Number.isFinite(value) ? value : String(value);
    case "bigint":
    case "symbol":
      return String(value);
    case "function":
      return `[function ${value.name}]`;
    case "undefined":
      return null;
    case "object":
      return value === null ? null : plainObject(value, depth, above);
    default:
      return null;
  }
}

function plainObject(value: object, depth: number, above: readonly object[]): unknown {
  if (above.includes(value)) return "[circular]";
  if (depth >= MAX_DEPTH) return "[too deep]";
  const inside = [...above, value];
  const next = (item: unknown): unknown => plain(item, depth + 1, inside);
  try {
    if (Array.isArray(value)) return value.map(next);
    if (value instanceof Date) return Number.isNaN(value.getTime()) ? "[invalid date]" : value.toISOString();
    if (value instanceof Error) return { name: value.name, message: value.message, stack: value.stack ?? null };
    if (value instanceof Map) return Object.fromEntries([...value].map(([key, item]) => [String(key), next(item)]));
    if (value instanceof Set) return [...value].map(next);
    if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
    if ("toJSON" in value && typeof value.toJSON === "function") return next((value.toJSON as () => unknown)());
    return Object.fromEntries(Object.entries(value).filter(([, item]) => item !== undefined).map(([key, item]) => [key, next(item)]));
  } catch (error) {
    return `[unreadable: ${error instanceof Error ? error.message : String(error)}]`;
  }
}
