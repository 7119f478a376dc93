/**
 * A process of its own that puts another collection in the place of `things` again and again, as the end of
 * `toolsrv load --replace` does. The two collections give the same row numbers to different tenants.
 * Arguments: file, rows. Prints a line after each swap; ends when its stdin ends.
 */
import Database from "better-sqlite3";
import { PARTS, tableName } from "../../runtime/adapters/sqlite/layout.js";
import { hashText } from "../../runtime/embed/local/hashing.js";
import { Writer } from "../../generator/load/writer.js";

const [file = "", rows = "0"] = process.argv.slice(2);
const vectors = ["red fox", "blue whale", "green frog"].map((text) => hashText(text, 64));
let stop = false;
process.stdin.on("end", () => (stop = true)).resume();

for (const [round, collection] of ["things", "others"].entries()) {
  const writer = await Writer.open({ file, collection, embedding: { embeddedBy: "local/test", dims: 64, text: "" }, replace: false, indexes: [["tenant"]] });
  writer.write(Array.from({ length: Number(rows) }, (_, n) => {
    const tenant = (n + round) % 2 === 0 ? "acme" : "globex";
    return { id: `r${n}`, record: { tenant, n }, text: `red ${n % 7}`, vector: vectors[n % 3] ?? new Float32Array(64) };
  }));
  writer.finish();
  writer.close();
}

const db = new Database(file, { timeout: 10_000 });
// Nothing here needs to survive a crash.
db.pragma("synchronous = OFF");
const swap = db.transaction(() => {
  for (const [from, to] of [["things", "old"], ["others", "things"], ["old", "others"]] as const) {
    for (const part of PARTS) db.exec(`ALTER TABLE ${tableName(from, part)} RENAME TO ${tableName(to, part)}`);
  }
});
while (!stop) {
  swap.immediate();
  process.stdout.write("swapped\n");
  await new Promise((resume) => setTimeout(resume, 5));
}
