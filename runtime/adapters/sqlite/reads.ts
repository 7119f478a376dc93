/** Lists and counts over one session, on the event loop or in a thread: one statement each. */
import { type ListRequest, listStatement } from "./queries.js";
import type { Session } from "./session.js";
import type { Statement } from "./sql.js";

/** A record whose JSON is parsed by the caller, because text is the cheapest to pass between threads. */
export interface StoredRecord {
  readonly id: string;
  readonly record: string;
}

/** Records of a fetch, or the only row of a count. */
export type ListAnswer = readonly StoredRecord[] | readonly [{ readonly n: number }];

/** The statement of a read, for the collection as it is now. @throws BackendError not_found */
export function listSql(session: Session, request: ListRequest): Statement {
  const { collection } = "fetch" in request ? request.fetch : request.count;
  return listStatement(session.collections.get(collection), request);
}

/** Runs a read; the caller has opened the transaction. */
export function readList(session: Session, statement: Statement): ListAnswer {
  return session.all(statement) as unknown as ListAnswer;
}
