/** Any value as JSON text: cycles, depth, and what JSON has no word for are written as short texts. Never throws. */

const MAX_DEPTH = 60;
/** Values of one text. Objects that know each other have far more paths than members, and each path is written. */
const MAX_VALUES = 200_000;

/** JSON that `JSON.stringify` can take. */
export function plain(value: unknown): unknown {
  return valueOf(value, { left: MAX_VALUES }, 0, []);
}

interface Budget {
  left: number;
}

function valueOf(value: unknown, budget: Budget, depth: number, above: readonly object[]): unknown {
  budget.left -= 1;
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
      return value === null ? null : objectOf(value, budget, depth, above);
    default:
      return null;
  }
}

function objectOf(value: object, budget: Budget, depth: number, above: readonly object[]): unknown {
  if (above.includes(value)) return "[circular]";
  if (depth >= MAX_DEPTH) return "[too deep]";
  if (budget.left <= 0) return "[too many values]";
  const inside = [...above, value];
  const next = (item: unknown): unknown => valueOf(item, budget, depth + 1, inside);
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
