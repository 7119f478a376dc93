/**
 * Positions in lists as text, in the two forms that specs/trace.openapi.yaml gives for `cursor`: what does not have them is
 * refused before it comes here, and what has them is a position.
 */

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

export function runCursor({ startedAt, runId }: RunPosition): string {
  return `${startedAt}.${Buffer.from(runId).toString("base64url")}`;
}

export function parseRunCursor(cursor: string): RunPosition {
  const [startedAt, runId] = halves(cursor);
  return { startedAt: Number(startedAt), runId: Buffer.from(runId, "base64url").toString("utf8") };
}

export function stepCursor({ at, seq }: StepPosition): string {
  return `${at}.${seq}`;
}

export function parseStepCursor(cursor: string): StepPosition {
  const [at, seq] = halves(cursor);
  return { at: Number(at), seq: Number(seq) };
}

function halves(cursor: string): readonly [string, string] {
  const dot = cursor.indexOf(".");
  return [cursor.slice(0, dot), cursor.slice(dot + 1)];
}
