/** Full-text search: newest first, at most MAX_COUNTED matches. */
import type { components } from "../../api.types.gen.js";
import { hitSnippet, matchExpression, searchTerms } from "../search-text.js";
import { hitRun, stepWireExtended } from "../wire.js";
import type { GraphReads } from "./graph-reads.js";
import type { Lookup } from "./lookup.js";
import type { PayloadReads } from "./payload-reads.js";
import { stepRow } from "../rows.js";
import type { Db } from "./schema.js";

type Schemas = components["schemas"];

/** More matches than this are not counted. */
const MAX_COUNTED = 10_000;

export class SearchReads {
  readonly #sql;

  constructor(
    traces: Db,
    index: Db,
    private readonly lookup: Lookup,
    private readonly graph: GraphReads,
    private readonly payloads: PayloadReads,
  ) {
    this.#sql = prepare(traces, index);
  }

  search(query: { q: string; scope: string; limit: number; offset: number }): Schemas["SearchResult"] {
    const terms = searchTerms(query.q);
    const match = matchExpression(terms);
    const roots = this.graph.roots({ scope: query.scope });
    const bounds = roots === null ? { from: 0, to: Number.MAX_SAFE_INTEGER } : this.#seqRange(roots);
    const inScope = roots === null ? null : new Set(roots);
    const hits: Schemas["SearchHit"][] = [];
    const runs = new Map<string, Schemas["HitRun"]>();
    let total = 0;
    if (match !== null && bounds !== null) {
      for (const seq of this.#sql.matches.iterate(match, bounds.from, bounds.to)) {
        if (total === MAX_COUNTED) break;
        if (total < query.offset || hits.length === query.limit || inScope !== null) {
          // Counting alone needs no row, unless the scope is narrower than the range.
          if (inScope !== null) {
            const root = this.#sql.rootOf.get(seq);
            if (root === undefined || !inScope.has(root)) continue;
          }
          if (total < query.offset || hits.length === query.limit) {
            total += 1;
            continue;
          }
        }
        const record = this.lookup.stepAt(seq);
        const run = record === null ? null : this.#runOf(record.root_id, runs);
        // Deleted since it was found.
        if (record === null || run === null) continue;
        total += 1;
        const step = stepRow(record, record.root_id);
        hits.push({
          run_id: record.root_id,
          run,
          snippet: hitSnippet(step, step.payload === null ? null : this.payloads.text(record), terms),
          step: stepWireExtended(step, this.graph.nodeId(step)),
        });
      }
    }
    return { hits, total, limit: query.limit, offset: query.offset, indexed_seq: this.indexedSeq(), last_seq: this.lookup.lastSeq() };
  }

  /** Steps up to here are searched. */
  indexedSeq(): number {
    return this.#sql.progress.get() ?? 0;
  }

  #runOf(runId: string, known: Map<string, Schemas["HitRun"]>): Schemas["HitRun"] | null {
    const row = known.has(runId) ? null : this.lookup.run(runId);
    if (row !== null) known.set(runId, hitRun(row));
    return known.get(runId) ?? null;
  }

  #seqRange(roots: readonly number[]): { from: number; to: number } | null {
    if (roots.length === 0) return null;
    let from = Number.MAX_SAFE_INTEGER;
    let to = 0;
    for (const root of roots) {
      const range = this.#sql.seqRange.get(root);
      if (range?.from == null || range.to == null) continue;
      from = Math.min(from, range.from);
      to = Math.max(to, range.to);
    }
    return { from, to };
  }
}

function prepare(traces: Db, index: Db) {
  return {
    matches: index.prepare<[string, number, number], number>("SELECT rowid FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ? ORDER BY rowid DESC").pluck(),
    progress: index.prepare<[], number>("SELECT seq FROM progress WHERE name = 'text'").pluck(),
    rootOf: traces.prepare<[number], number>("SELECT root FROM events WHERE seq = ?").pluck(),
    seqRange: traces.prepare<[number], { from: number | null; to: number | null }>('SELECT min(seq) AS "from", max(seq) AS "to" FROM events WHERE root = ?'),
  };
}
