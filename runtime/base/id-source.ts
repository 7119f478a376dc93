/** Identifiers of calls, runs and events: unique, and in the order of their making. */
import { randomFillSync } from "node:crypto";

/** Makes UUIDs of version 7, ascending within a process. `now` is milliseconds since the epoch. */
export function createIdSource(now: () => number): () => string {
  const pool = Buffer.alloc(16 * 256);
  let at = pool.length;
  let lastMs = 0;
  let count = 0;
  // Times of 4,096 ms share their first nine digits; formatting a number beyond 31 bits as hexadecimal is slow.
  let highMs = -1;
  let head = "";
  return () => {
    if (at === pool.length) {
      randomFillSync(pool);
      at = 0;
    }
    const ms = Math.max(Math.floor(now()), lastMs);
    count = ms === lastMs ? (count + 1) & 0xfff : 0;
    lastMs = count === 0 && ms === lastMs ? ms + 1 : ms;
    const high = Math.floor(lastMs / 4096);
    if (high !== highMs) {
      highMs = high;
      const digits = high.toString(16).padStart(9, "0");
      head = `${digits.slice(0, 8)}-${digits.slice(8)}`;
    }
    const low = (4096 + (lastMs - high * 4096)).toString(16).slice(1);
    const tail = pool.toString("hex", at, at + 8);
    at += 8;
    const variant = "89ab"[Number.parseInt(tail[0] ?? "0", 16) & 3] ?? "8";
    return `${head}${low}-7${count.toString(16).padStart(3, "0")}-${variant}${tail.slice(1, 4)}-${tail.slice(4)}`;
  };
}
