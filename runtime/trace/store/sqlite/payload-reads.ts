/** Stored payloads, for reading: one that is missing or damaged is reported, and reads as absent. */
import { gunzipSync } from "node:zlib";
import { settledPayload } from "../../deferred.js";
import type { Db } from "./schema.js";
import { BlockLines, type StepPlace } from "./step-record.js";

export class PayloadReads {
  readonly #single;
  readonly #blocks: BlockLines;

  constructor(
    payloads: Db,
    private readonly log: (message: string) => void,
  ) {
    this.#single = payloads.prepare<[number], Buffer>("SELECT data FROM payloads WHERE seq = ?").pluck();
    this.#blocks = new BlockLines(payloads, "blocks");
  }

  /** JSON text of a step's payload. */
  text(step: StepPlace): string | null {
    try {
      return this.#stored(step);
    } catch {
      this.log(`the payload of step ${step.seq} can't be decompressed`);
      return null;
    }
  }

  /** The stored object; `null` when it is missing, damaged or not an object. */
  object(step: StepPlace): { [key: string]: unknown } | null {
    const text = this.text(step);
    if (text === null) return null;
    try {
      const value: unknown = JSON.parse(text);
      if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as { [key: string]: unknown };
    } catch {
      // Reported below, like anything else that is not an object.
    }
    this.log(`the payload of step ${step.seq} is not a JSON object`);
    return null;
  }

  #stored({ seq, block, line }: StepPlace): string | null {
    const inBlock = block === null ? undefined : this.#blocks.line(block, line ?? 0);
    if (inBlock !== undefined) return settledPayload(inBlock);
    const data = this.#single.get(seq);
    return data === undefined ? null : gunzipSync(data).toString("utf8");
  }
}
