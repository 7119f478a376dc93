/**
 * Plain scalars as a YAML 1.1 reader takes them: catalogs were written against one, and `on`, `0144`, `1:30` and
 * `2024-01-01` must keep their meaning. Quoted scalars never come here.
 */
import { keepsDigits } from "../../runtime/base/numbers.js";

const BOOL = /^(?:yes|no|true|false|on|off)$/i;
const TRUE = /^(?:yes|true|on)$/i;
const NULL = /^(?:~|null|Null|NULL|)$/;
const BINARY = /^[-+]?0b[0-1_]+$/;
const OCTAL = /^[-+]?0[0-7_]+$/;
const DECIMAL = /^[-+]?(?:0|[1-9][0-9_]*)$/;
const HEX = /^[-+]?0x[0-9a-fA-F_]+$/;
const SEXAGESIMAL = /^[-+]?[1-9][0-9_]*(?::[0-5]?[0-9])+$/;
const FLOAT = /^(?:[-+]?[0-9][0-9_]*\.[0-9_]*(?:[eE][-+][0-9]+)?|[-+]?\.[0-9][0-9_]*(?:[eE][-+][0-9]+)?)$/;
const SEXAGESIMAL_FLOAT = /^[-+]?[0-9][0-9_]*(?::[0-5]?[0-9])+\.[0-9_]*$/;
const INFINITE = /^(?:[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;
const TIMESTAMP =
  /^([0-9]{4})-([0-9]{1,2})-([0-9]{1,2})(?:[Tt]|[ \t]+)([0-9]{1,2}):([0-9]{2}):([0-9]{2})(\.[0-9]*)?(?:[ \t]*(Z|[-+][0-9]{1,2}(?::[0-9]{2})?))?$/;
/** The first characters a plain scalar must have to be anything but text. */
const MAYBE = /^(?:[-+.0-9~yYnNtTfFoO]|$)/;

export type ScalarValue = string | number | boolean | null;

/** What a plain scalar means, or why it can't be kept: `inexact` numbers don't fit a double, `infinite` ones don't fit JSON. */
export type PlainScalar = { readonly value: ScalarValue } | { readonly problem: "inexact" | "infinite" };

/** The YAML 1.1 meaning of an unquoted scalar. Dates stay text; date-times become ISO text. */
export function plainScalar(text: string): PlainScalar {
  if (!MAYBE.test(text)) return { value: text };
  if (BOOL.test(text)) return { value: TRUE.test(text) };
  if (NULL.test(text)) return { value: null };
  if (INFINITE.test(text)) return { problem: "infinite" };
  const number = plainNumber(text);
  if (number === null) return { value: isoText(text) ?? text };
  if (!Number.isFinite(number)) return { problem: "infinite" };
  return keepsDigits(text, number) ? { value: number } : { problem: "inexact" };
}

function plainNumber(text: string): number | null {
  const digits = text.replaceAll("_", "").replace(/^[-+]/, "");
  const signed = (magnitude: number): number => (text.startsWith("-") && magnitude !== 0 ? -magnitude : magnitude);
  if (DECIMAL.test(text)) return signed(Number(digits));
  if (OCTAL.test(text)) return signed(digits === "0" || digits === "" ? 0 : Number.parseInt(digits, 8));
  if (HEX.test(text) || BINARY.test(text)) return digits.length > 2 ? signed(Number(digits)) : null;
  if (FLOAT.test(text)) return signed(Number(digits));
  if (SEXAGESIMAL.test(text) || SEXAGESIMAL_FLOAT.test(text)) return signed(digits.split(":").reduce((sum, part) => sum * 60 + Number(part), 0));
  return null;
}

/** `2024-1-2 3:04:05 +1` → `2024-01-02T03:04:05+01:00`; null when it is no date-time. A plain date is ISO text already. */
function isoText(text: string): string | null {
  const match = TIMESTAMP.exec(text);
  if (match === null) return null;
  const [, year = "", month = "", day = "", hour = "", minute = "", second = "", fraction = "", zone = ""] = match;
  const pad = (part: string): string => part.padStart(2, "0");
  const [zoneHours = "", zoneMinutes = "00"] = zone.slice(1).split(":");
  const iso = zone === "" || zone === "Z" ? zone : `${zone[0]}${pad(zoneHours)}:${zoneMinutes}`;
  return `${year}-${pad(month)}-${pad(day)}T${pad(hour)}:${minute}:${second}${fraction === "." ? "" : fraction}${iso}`;
}
