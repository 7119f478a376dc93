/**
 * Differences of two catalogs, classified by risk. This room compares plans, not files: comments, order of keys
 * and the way a default is written make no difference. It knows no command; `surface.ts` reads, `compare.ts` decides,
 * `print.ts` shows.
 */

/**
 * From worst to best.
 * isolation-weakening: rows, fields or tools become reachable that were not.
 * quality-weakening: a search may lose rows that it was certified to find.
 * breaking: a call that worked is refused, or its result lacks something.
 * behavioural: the same call may give another result.
 * additive: something new that changes nothing for those who do not use it.
 */
export const CHANGE_CLASSES = ["isolation-weakening", "quality-weakening", "breaking", "behavioural", "additive"] as const;
export type ChangeClass = (typeof CHANGE_CLASSES)[number];

/** One difference. */
export interface Change {
  readonly class: ChangeClass;
  /** The catalog, where a server has several. */
  readonly project?: string;
  /** `null` for what concerns the whole catalog. */
  readonly tool: string | null;
  /** What changed: `guard`, `argument genre`, `security.rbac`. */
  readonly subject: string;
  /** One sentence about the difference. */
  readonly message: string;
}

/** Collects the changes of one tool or of the catalog. */
export class Changes {
  readonly list: Change[] = [];
  constructor(readonly tool: string | null) {}

  /** A change that several parts of a tool share, such as its tenancy, is reported once. */
  add(kind: ChangeClass, subject: string, message: string): void {
    if (this.list.some((known) => known.class === kind && known.subject === subject && known.message === message)) return;
    this.list.push({ class: kind, tool: this.tool, subject, message });
  }
}

/** A value as a message shows it. */
export function show(value: unknown): string {
  if (value === undefined) return "nothing";
  const text = JSON.stringify(value);
  return text.length > 120 ? `${text.slice(0, 117)}…` : text;
}

/** Equal as JSON; key order and absent members make no difference. */
export function same(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null || Array.isArray(a) !== Array.isArray(b)) return false;
  const [left, right] = [a, b] as readonly [{ readonly [key: string]: unknown }, { readonly [key: string]: unknown }];
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].every((key) => same(left[key], right[key]));
}

/** Members of `list` that `others` lacks. */
export function without(list: readonly unknown[], others: readonly unknown[]): readonly unknown[] {
  return list.filter((item) => !others.some((other) => same(item, other)));
}
