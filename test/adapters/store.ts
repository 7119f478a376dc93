/** Throw-away sqlite stores filled by the real writer. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { LoadRecord } from "../../generator/load/convert.js";
import { Writer } from "../../generator/load/writer.js";
import type { IndexSpec } from "../../runtime/adapters/sqlite/indexes.js";
import type { Adapter } from "../../runtime/adapters/adapter.js";
import { adapter as sqlite } from "../../runtime/adapters/sqlite/index.js";
import type { Row } from "../../runtime/abi/filter.js";
import { hashText } from "../../runtime/embed/local/hashing.js";

export const MODEL = "local/hashing-256";
export const DIMS = 256;
export const never: AbortSignal = new AbortController().signal;

/** A folder that `remove` deletes. */
export function scratch(): { readonly folder: string; remove(): void } {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-store-"));
  return { folder, remove: () => rmSync(folder, { recursive: true, force: true }) };
}

/** A record with its id; the embedded text is the JSON of its texts unless given. */
export function record(id: string, payload: Row, text = JSON.stringify(payload)): LoadRecord {
  return { id, record: payload, text };
}

/** Fills one collection and opens the file as the server would. */
export async function storeOf(folder: string, records: readonly LoadRecord[], collection = "things", indexes: readonly IndexSpec[] = []): Promise<Adapter> {
  await fill(folder, records, collection, indexes);
  return sqlite.open({ path: "store.db" }, { base: folder });
}

export async function fill(folder: string, records: readonly LoadRecord[], collection = "things", indexes: readonly IndexSpec[] = []): Promise<void> {
  const embedding = { embeddedBy: MODEL, dims: DIMS, text: "" };
  const writer = await Writer.open({ file: join(folder, "store.db"), collection, embedding, replace: false, indexes });
  try {
    writer.write(records.map((one) => ({ ...one, vector: hashText(one.text, DIMS) })));
    writer.finish();
  } finally {
    writer.close();
  }
}
