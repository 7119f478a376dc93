/** The statements of a load into one collection. */
import type Database from "better-sqlite3";
import { type Part, tableName } from "../../runtime/adapters/sqlite/layout.js";

export interface Statements {
  readonly findRow: Database.Statement;
  readonly lastRow: Database.Statement;
  readonly readRecord: Database.Statement;
  readonly deletes: readonly Database.Statement[];
  /** Changes nothing where the id is there already. */
  readonly addFields: Database.Statement;
  readonly insertVector: Database.Statement;
  readonly insertText: Database.Statement;
  readonly insertRecord: Database.Statement;
}

/** @param columns how many the table of fields has; prepared again whenever one was added */
export function prepareStatements(db: Database.Database, collection: string, columns: number): Statements {
  const table = (part: Part): string => tableName(collection, part);
  const prepare = (sql: string): Database.Statement => db.prepare(sql);
  return {
    findRow: prepare(`SELECT "@row" FROM ${table("fields")} WHERE "@id" = ?`).pluck(),
    lastRow: prepare(`SELECT max("@row") FROM ${table("fields")}`).pluck(),
    readRecord: prepare(`SELECT "record" FROM ${table("records")} WHERE "@row" = ?`).pluck(),
    deletes: [
      ...(["fields", "vectors", "records"] as const).map((part) => prepare(`DELETE FROM ${table(part)} WHERE "@row" = ?`)),
      prepare(`DELETE FROM ${table("text")} WHERE rowid = ?`),
    ],
    addFields: prepare(`INSERT OR IGNORE INTO ${table("fields")} VALUES (?, ?${", ?".repeat(columns)})`),
    insertVector: prepare(`INSERT INTO ${table("vectors")} VALUES (?, ?, ?)`),
    insertText: prepare(`INSERT INTO ${table("text")}(rowid, "text", "more") VALUES (?, ?, ?)`),
    insertRecord: prepare(`INSERT INTO ${table("records")} VALUES (?, ?)`),
  };
}
