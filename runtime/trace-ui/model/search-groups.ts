/** Hits of a search under the runs that hold them, as rows of a list. */
import { stepKey } from "./spans.js";
import type { SearchHit } from "./types.js";

/** `top` and `height` are in units of the list; a hit is two units high. */
export type SearchRow = { readonly key: string; readonly runId: string; readonly top: number; readonly height: number } & (
  | { readonly kind: "run"; readonly run: SearchHit["run"]; readonly count: number }
  | { readonly kind: "hit"; readonly hit: SearchHit }
  | { readonly kind: "more"; readonly count: number; readonly open: boolean }
);

export interface SearchRows {
  readonly rows: readonly SearchRow[];
  /** Units of all rows together. */
  readonly height: number;
}

/** Hits of a run that are shown before asking for more. */
export const SHOWN_HITS = 3;
const HIT_UNITS = 2;

/** Runs in the order of their first hit, hits in the order of the answer. `opened` are runs whose hits are all shown. */
export function groupHits(hits: readonly SearchHit[], opened: ReadonlySet<string>): SearchRows {
  const groups = new Map<string, SearchHit[]>();
  for (const hit of hits) {
    const known = groups.get(hit.run_id);
    if (known === undefined) groups.set(hit.run_id, [hit]);
    else known.push(hit);
  }
  const rows: SearchRow[] = [];
  let top = 0;
  for (const [runId, held] of groups) {
    const [first] = held;
    if (first === undefined) continue;
    rows.push({ kind: "run", key: `run ${runId}`, runId, run: first.run, count: held.length, top: top++, height: 1 });
    const open = opened.has(runId);
    for (const hit of held.slice(0, open ? held.length : SHOWN_HITS)) {
      rows.push({ kind: "hit", key: stepKey(hit.step), runId, hit, top, height: HIT_UNITS });
      top += HIT_UNITS;
    }
    if (held.length > SHOWN_HITS) rows.push({ kind: "more", key: `more ${runId}`, runId, count: held.length - SHOWN_HITS, open, top: top++, height: 1 });
  }
  return { rows, height: top };
}

/** The rows that are at least partly within the units. */
export function rowsWithin({ rows }: SearchRows, from: number, to: number): readonly SearchRow[] {
  return rows.filter((row) => row.top + row.height > from && row.top < to);
}
