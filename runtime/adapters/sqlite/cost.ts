/**
 * What a read costs in the file as it is: which index SQLite's planner takes, how many rows it expects to look at, and
 * how many pass. Estimates are those of ANALYZE, which `toolsrv load` runs; what it does not count is not made up.
 */
import type { ReadCost, ReadRequest } from "../adapter.js";
import { type FoundIndex, readIndexes } from "./indexes.js";
import { escapeName, isListPath } from "./layout.js";
import { countStatement, listStatement } from "./queries.js";
import type { Session } from "./session.js";
import type { Statement } from "./sql.js";

/** One use of the rows: by an index, or without. */
interface Access {
  readonly index: string | null;
  readonly rows: number | null;
}

/** The cost of a read; the caller has opened the transaction. @throws BackendError not_found */
export function costOf(session: Session, request: ReadRequest): ReadCost {
  const { collection: name, filter } = "search" in request ? request.search : "fetch" in request ? request.fetch : request.count;
  const known = session.collections.get(name);
  const rows = countOf(session, countStatement(known, null));
  // A search compares the vectors of the rows that pass: its filter runs as that of a count.
  const statement = "fetch" in request ? listStatement(known, request) : countStatement(known, filter);
  const plan = session.all({ sql: `EXPLAIN QUERY PLAN ${statement.sql}`, params: statement.params }) as { detail: string }[];
  const details = plan.map(({ detail }) => detail);
  const found = readIndexes((sql, params) => session.all({ sql, params }) as unknown[], name);
  const accesses = filter === null ? [{ index: null, rows }] : accessesOf(session, name, details, found, rows);
  const examined = accesses.map((access) => access.rows);
  const matching = countOf(session, countStatement(known, filter));
  return {
    rows, matching,
    // No fewer rows are looked at than pass: the estimate is an average over all values.
    examined: examined.includes(null) ? null : Math.min(rows, Math.max(matching, examined.reduce<number>((sum, one) => sum + (one ?? 0), 0))),
    index: accesses.some(({ index }) => index === null) ? null : [...new Set(accesses.map(({ index }) => index))].join(" or "),
    plan: details,
  };
}

function countOf(session: Session, statement: Statement): number {
  const [row] = session.all(statement) as { n: number }[];
  return row?.n ?? 0;
}

/** How the rows of a collection are reached: once, or once for each part of an OR. */
function accessesOf(session: Session, collection: string, details: readonly string[], found: readonly FoundIndex[], rows: number): readonly Access[] {
  const lists = details.flatMap((detail) => found.filter(({ spec: [path = ""] }) => isListPath(path)).filter(({ name }) => detail.includes(`SEARCH ${name} `)).map(({ spec }) => spec.join()));
  const accesses = details.flatMap((detail): Access | readonly [] => {
    const byIndex = /^SEARCH f USING (?:COVERING )?INDEX (.+) \((.+)\)$/.exec(detail);
    if (byIndex !== null) return indexAccess(session, collection, byIndex[1] ?? "", byIndex[2] ?? "", found);
    if (/^SEARCH f USING INTEGER PRIMARY KEY/.test(detail)) return { index: lists.length > 0 ? lists.join(", ") : "words", rows: null };
    return /^SCAN f\b/.test(detail) ? { index: null, rows } : [];
  });
  return accesses.length === 0 ? [{ index: null, rows }] : accesses;
}

function indexAccess(session: Session, collection: string, name: string, terms: string, found: readonly FoundIndex[]): Access {
  const spec = found.find((index) => index.name === name)?.spec;
  const compared = terms.split(" AND ");
  const equal = compared.filter((term) => /[^<>]=\?$/.test(term)).length;
  const isRange = compared.length > equal;
  // Only the fields that narrow: another index with the same first ones would serve as well.
  const narrowing = new Set(compared.map((term) => term.replace(/[<>=]+\?$/, ""))).size;
  const index = spec === undefined ? "the record id" : spec.slice(0, narrowing).join(", ");
  if (spec === undefined) return { index, rows: isRange ? null : 1 };
  // A skip scan: once through the index for each value of its first column.
  if (terms.includes("ANY(")) return { index, rows: null };
  // How much a range leaves depends on its bounds, of which ANALYZE knows nothing: only what comes before it counts.
  return { index, rows: isRange && equal === 0 ? null : averageRows(session, collection, name, equal) };
}

/** Rows with one value in each of the first `columns` of an index, on average; `null` where nothing was counted. */
function averageRows(session: Session, collection: string, index: string, columns: number): number | null {
  const known = session.all({ sql: "SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_stat1'", params: [] }).length > 0;
  const [row] = known ? (session.all({ sql: "SELECT stat FROM sqlite_stat1 WHERE tbl = ? AND idx = ?", params: [escapeName(collection, "fields"), index] }) as { stat: string }[]) : [];
  const average = Number(row?.stat.split(" ")[columns]);
  return Number.isFinite(average) ? average : null;
}
