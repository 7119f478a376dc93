/** `toolsrv copy` from a live store, as a user runs it: the rows of the embedded file, with their vectors. */
import assert from "node:assert/strict";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../generator/cli/main.js";
import { EXIT } from "../../generator/cli/exit.js";
import type { StoredRow } from "../../runtime/adapters/adapter.js";
import { adapter as sqlite } from "../../runtime/adapters/sqlite/index.js";
import { memoryIo } from "../lib/io.js";
import type { LiveStore } from "./live-store.js";
import { connectionTo } from "./store-catalog.js";
import { never, scratch } from "./store.js";

/** @param words more of the command line. The first 1000 rows of the copy, in the order of their ids as texts. */
export async function copiedRows(store: LiveStore, collection: string, words: readonly string[]): Promise<readonly StoredRow[]> {
  const { folder, remove } = scratch();
  try {
    const stored = store.name(collection);
    const { connection, env } = connectionTo(store);
    writeFileSync(join(folder, "tools.yaml"), JSON.stringify({ tds_version: "2", connections: { live: connection }, tools: [] }));
    writeFileSync(join(folder, ".env"), Object.entries(env).map(([key, value]) => `${key}=${value}\n`).join(""));
    const io = memoryIo({ cwd: folder });
    assert.equal(await run(["copy", "tools.yaml", "--from", "live", "--to", "copy.db", "--collection", stored, "--env-file", ".env", ...words], io), EXIT.OK, io.err());
    assert.deepEqual(readdirSync(folder).sort(), [".env", "copy.db", "tools.yaml"]);
    const copy = await sqlite.open({ path: "copy.db" }, { base: folder });
    try {
      return (await copy.page?.({ collection: stored, filter: null, limit: 1000, after: null }, never))?.rows ?? assert.fail();
    } finally {
      await copy.close();
    }
  } finally {
    remove();
  }
}
