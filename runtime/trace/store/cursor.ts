/** Positions in lists, as opaque text: a cursor that was not made here reads as none. */

import { AFTER_ALL, BEFORE_ALL } from "../time.js";

/** A position in the list of runs. */
export interface RunPosition {
  readonly startedAt: number;
  readonly runId: string;
}

/** A position in a journey. */
export interface StepPosition {
  readonly at: number;
  readonly seq: number;
}

export function runCursor(position: RunPosition): string {
  return Buffer.from(JSON.stringify([position.startedAt, position.runId])).toString("base64url");
}

export function parseRunCursor(cursor: string): RunPosition | null {
  const value = parse(cursor);
  return Array.isArray(value) && isMoment(value[0]) && typeof value[1] === "string" ? { startedAt: value[0] as number, runId: value[1] } : null;
}

export function stepCursor(position: StepPosition): string {
  return Buffer.from(JSON.stringify([position.at, position.seq])).toString("base64url");
}

export function parseStepCursor(cursor: string): StepPosition | null {
  const value = parse(cursor);
  return Array.isArray(value) && isMoment(value[0]) && Number.isSafeInteger(value[1]) ? { at: value[0] as number, seq: value[1] as number } : null;
}

/** Microseconds; before 1684 and after 2255 these are whole numbers that are no safe integers. */
function isMoment(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) > BEFORE_ALL && (value as number) < AFTER_ALL;
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
  } catch {
    return null;
  }
}
