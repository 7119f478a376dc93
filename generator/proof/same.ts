/** Comparing what a plan holds with what the catalog says. */
import { isRecord } from "../../runtime/base/paths.js";
import { writtenText } from "../../runtime/abi/plan.js";

const REFERENCE = /\$\{[A-Za-z_]\w*(?::-[^}]*)?\}/;

/** Equal as JSON: the order of keys does not matter, an absent member is the same as null. */
export function same(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return (a ?? null) === (b ?? null);
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (Array.isArray(a) && a.length !== (b as readonly unknown[]).length) return false;
  const [left, right] = [a, b] as readonly [{ readonly [key: string]: unknown }, { readonly [key: string]: unknown }];
  return [...new Set([...Object.keys(left), ...Object.keys(right)])].every((key) => same(own(left, key), own(right, key)));
}

function own(value: { readonly [key: string]: unknown }, key: string): unknown {
  return Object.hasOwn(value, key) ? value[key] : undefined;
}

/** Whether a value of a plan is what the catalog says, where references may be: each of them is open in the plan. */
export function sameAsWritten(planned: unknown, written: unknown): boolean {
  if (Array.isArray(written)) return Array.isArray(planned) && planned.length === written.length && written.every((item, index) => sameAsWritten(planned[index], item));
  if (isRecord(written)) {
    if (!isRecord(planned)) return false;
    const keys = new Set([...Object.keys(written), ...Object.keys(planned)]);
    return [...keys].every((key) => sameAsWritten(own(planned, key), own(written, key)));
  }
  if (typeof written !== "string") return same(planned, written);
  if (!REFERENCE.test(written)) return planned === written;
  // Nothing fills a text that only looks like a reference.
  return typeof planned !== "string" && writtenText(planned) === written;
}
