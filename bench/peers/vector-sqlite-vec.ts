/** sqlite-vec's own table, vec0, with metadata columns for the filters. */
import { join } from "node:path";
import Database from "better-sqlite3";
import * as sqliteVec from "sqlite-vec";
import { type CaseName, CASES, DIMS, fieldsOf } from "../lib/vector-data.js";
import { runPeer } from "./vector-peer.js";

const BATCH = 4096;

await runPeer(async (rows, folder, next) => {
  const db = new Database(join(folder, "vec0.db"));
  sqliteVec.load(db);
  db.pragma("synchronous = OFF");
  db.pragma("mmap_size = 1073741824");
  db.exec(`CREATE VIRTUAL TABLE things USING vec0(tenant text, decile integer, same integer, v float[${DIMS}] distance_metric=cosine)`);
  const insert = db.prepare("INSERT INTO things(rowid, tenant, decile, same, v) VALUES (?, ?, ?, ?, ?)");
  for (let from = 0; from < rows; from += BATCH) {
    db.transaction(() => {
      for (let n = from; n < Math.min(rows, from + BATCH); n++) {
        const { tenant, decile, same } = fieldsOf(n);
        insert.run(BigInt(n), tenant, BigInt(decile), BigInt(same), Buffer.from(next().buffer));
      }
    })();
  }
  const statements = new Map(Object.entries(CASES).map(([name, { sql }]) => [name as CaseName, db.prepare(`SELECT rowid FROM things WHERE v MATCH ? AND k = 10${sql === "" ? "" : ` AND ${sql}`} ORDER BY distance`).pluck()]));
  return { search: async (name, query) => (statements.get(name as CaseName)?.all(Buffer.from(query.buffer)) ?? []) as number[] };
});
