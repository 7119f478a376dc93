/** Stored payloads, for reading: one that is missing or damaged is reported, and reads as absent. */
import { gunzipSync } from "node:zlib";
import type { Db } from "./schema.js";

export class PayloadReads {
  readonly #find;

  constructor(
    payloads: Db,
    private readonly log: (message: string) => void,
  ) {
    this.#find = payloads.prepare<[number], Buffer>("SELECT data FROM payloads WHERE seq = ?").pluck();
  }

  /** JSON text of a step's payload. */
  text(seq: number): string | null {
    const data = this.#find.get(seq);
    if (data === undefined) return null;
    try {
      return gunzipSync(data).toString("utf8");
    } catch {
      this.log(`the payload of step ${seq} can't be decompressed`);
      return null;
    }
  }

  /** The stored object; `null` when it is missing, damaged or not an object. */
  object(seq: number): { [key: string]: unknown } | null {
    const text = this.text(seq);
    if (text === null) return null;
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as { [key: string]: unknown };
    } catch {
      // Reported below, like anything else that is not an object.
    }
    this.log(`the payload of step ${seq} is not a JSON object`);
    return null;
  }
}
