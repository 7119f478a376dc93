/** Identifiers of calls, runs and events: unique, and in the order of their making. */
import { nodeCrypto } from "./node-crypto.js";

/** Random digits are made in blocks: one request to the generator serves many ids. */
const BLOCK_BYTES = 2048;
/** Digits of one id: one of four bits for the variant, fifteen as they are. */
const RANDOM_DIGITS = 16;
const VARIANTS = ["8", "9", "a", "b"];

/** Makes UUIDs of version 7, ascending within a process. `now` is milliseconds since the epoch. */
export function createIdSource(now: () => number): () => string {
  let digits = "";
  let at = 0;
  let lastMs = -1;
  let count = 0;
  // The same for all ids of a millisecond.
  let head = "";
  // Of the counts so far: a table of all would cost each start milliseconds.
  const counted: string[] = [];
  return () => {
    if (at === digits.length) {
      digits = nodeCrypto().randomBytes(BLOCK_BYTES).toString("hex");
      at = 0;
    }
    const ms = Math.max(Math.floor(now()), lastMs);
    count = ms === lastMs ? (count + 1) & 0xfff : 0;
    const current = count === 0 && ms === lastMs ? ms + 1 : ms;
    if (current !== lastMs) head = headOf(current);
    lastMs = current;
    const variant = VARIANTS[digits.charCodeAt(at) & 3] ?? "8";
    const id = `${head}${(counted[count] ??= threeDigits(count))}-${variant}${digits.slice(at + 1, at + 4)}-${digits.slice(at + 4, at + RANDOM_DIGITS)}`;
    at += RANDOM_DIGITS;
    return id;
  };
}

/** Three hex digits of a number below 4,096. */
function threeDigits(number: number): string {
  return number.toString(16).padStart(3, "0");
}

/** Time and version: `0199abcd-e000-7`. */
function headOf(ms: number): string {
  const high = Math.floor(ms / 4096);
  const digits = `${high.toString(16).padStart(9, "0")}${threeDigits(ms - high * 4096)}`;
  return `${digits.slice(0, 8)}-${digits.slice(8)}-7`;
}
