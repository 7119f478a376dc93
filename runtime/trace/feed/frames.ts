/** Frames of the feeds as bytes. */
import type { Frame } from "../store/store.js";

/** A whole message; `payload` is JSON text. */
export function frame(type: string, runId: string, payload: string): Uint8Array {
  return Buffer.from(`{"msg_type":"${type}","run_id":${JSON.stringify(runId)},"payload":${payload}}`);
}

/** Frames by the run that they belong to, in their order. */
export function byRun(frames: readonly Frame[]): ReadonlyMap<string, readonly Frame[]> {
  const runs = new Map<string, Frame[]>();
  for (const entry of frames) {
    const held = runs.get(entry.rootId);
    if (held === undefined) runs.set(entry.rootId, [entry]);
    else held.push(entry);
  }
  return runs;
}
