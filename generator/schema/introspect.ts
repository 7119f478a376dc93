/** What introspect, discover and drift begin with: the schema of an opened connection, asked for with progress. */
import { UsageError, type Invocation, type Io } from "../cli/command.js";
import { visible } from "../drafts/untrusted.js";
import { createProgress } from "../load/progress.js";
import type { SchemaExport } from "./export.js";
import type { OpenedConnection } from "./open-connection.js";
import { openStore, storeProblem } from "./open-store.js";
import { redactedPaths, schemaOf, UnknownCollection } from "./schema-of.js";

/** The names of --collections; null for all. */
export function collectionNames({ options }: Invocation): readonly string[] | null {
  const list = options["collections"];
  if (typeof list !== "string") return null;
  const names = list.split(",").map((name) => name.trim()).filter((name) => name !== "");
  if (names.length === 0) throw new UsageError("--collections names no collection");
  return names;
}

/** How the schema of an opened connection is asked for. */
export interface Asked {
  readonly command: string;
  readonly collections: readonly string[] | null;
  readonly redacted: boolean;
}

/** The schema of the connection, or null after the store's problem was printed. */
export async function introspect({ connection, resolved, where, env }: OpenedConnection, { command, collections, redacted }: Asked, io: Io): Promise<SchemaExport | null> {
  const progress = createProgress(io.stderr, "reading", () => io.host.monotonic(), "collections");
  const fail = (what: string): null => {
    progress.clear();
    io.stderr.write(`toolsrv ${command}: connection '${connection.name}': ${visible(what)}\n`);
    return null;
  };
  try {
    const adapter = await openStore(connection, where, { host: io.host, env, variables: io.env });
    try {
      const secretOf = redactedPaths(resolved.tools, connection.name);
      return await schemaOf(adapter, connection, { redacted, collections, secretOf, onCollection: (done, all) => progress.update(done, done, all) }, io.signal);
    } finally {
      progress.clear();
      await adapter.close();
    }
  } catch (error) {
    if (error instanceof UnknownCollection) return fail(`${error.message}; it has ${error.known.slice(0, 30).join(", ") || "none"}`);
    const problem = storeProblem(error);
    if (problem === null) throw error;
    return fail(problem);
  }
}
