/** What takes audit records. One file for each kind; which one a catalog has is decided in open.ts. */
import type { AuditEvent } from "./event.js";

export interface AuditSink {
  /** For messages: `file ./audit.jsonl`. Without credentials. */
  readonly name: string;
  /** Finds out at the start what can be found out then. @throws when the sink can't be used. */
  prepare(): Promise<void>;
  /**
   * Writes all of the events or none; they are given again after it rejected. `lost` were dropped since the last
   * delivery that succeeded. Resolves with the number of events that the sink refuses for good.
   */
  deliver(events: readonly AuditEvent[], lost: number): Promise<number>;
  close(): Promise<void>;
}

/** The lines of events, each with its line feed. */
export function linesOf(events: readonly AuditEvent[]): string {
  let text = "";
  for (const { body } of events) text += `${body}}\n`;
  return text;
}
