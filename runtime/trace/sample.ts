/**
 * The sample of `toolsrv trace demo` and of "Load a sample": what a real agent did, recorded once and moved to now.
 * `make sample` records it anew. Shared with the pages, so it knows nothing of the service.
 */

type Fields = { readonly [field: string]: unknown };

/** One recorded run. */
export interface SampleRun {
  /** Before now, when the run starts. */
  readonly ageMs: number;
  /** Fields as they are ingested, but: ids are numbers that are unique in the run, 0 the root's; `timestamp` counts from its start, in ms. */
  readonly events: readonly SampleEvent[];
}

export interface SampleEvent {
  readonly run_id: number;
  readonly parent_run_id: number | null;
  readonly timestamp: number;
  readonly [field: string]: unknown;
}

export interface Sample {
  readonly runs: readonly SampleRun[];
}

/** Events to ingest, oldest run first. `prefix` starts the ids of the runs: a sample can be loaded more than once. */
export function sampleEvents({ runs }: Sample, nowMs: number, prefix: string): readonly Fields[] {
  return runs.flatMap(({ ageMs, events }, index) => {
    const root = `${prefix}-${index + 1}`;
    const idOf = (id: number | null): string | null => (id === null ? null : id === 0 ? root : `${root}-${id}`);
    return events.map(({ run_id: id, parent_run_id: parent, timestamp, ...fields }) => ({
      ...fields, run_id: idOf(id), parent_run_id: idOf(parent), root_run_id: root, timestamp: new Date(nowMs - ageMs + timestamp).toISOString(),
    }));
  });
}
