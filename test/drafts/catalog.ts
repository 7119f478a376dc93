/** A catalog, a proposal that is good, and a working directory for commands. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../generator/cli/main.js";
import { defineTool, type DefineResult, type Proposal } from "../../generator/drafts/define.js";
import { baseOf, type Base } from "../../generator/drafts/examine.js";
import { readDrafts } from "../../generator/drafts/drafts-file.js";
import { DRAFTS_FILE, type DraftRecord, type JsonMap } from "../../generator/drafts/record.js";
import { nodeHost, type Host } from "../../generator/host.js";
import { memoryIo } from "../lib/io.js";

export const CATALOG = `# The movies.
tds_version: '2'
connections:
  main:
    backend: sqlite
    path: ./data.db
    builtin_defaults:
      collections: [movies]
      static_filters: { must: [{ path: status, op: eq, value: live }], must_not: [{ path: hidden, op: eq, value: true }] }
  other: { backend: sqlite, path: ./other.db }
defaults: { embedding: local/hashing-256 }
tools:
  - name: search_movies   # the first
    description: "Search the movies by meaning. Use for questions about films."
    target: { connection: main, collection: movies }
    query: { required: true }
    static_filters: { must: [{ path: status, op: eq, value: live }], must_not: [{ path: hidden, op: eq, value: true }] }
    output: { redact: [{ path: email, mode: omit }] }
    # about search_movies

# the end
`;

/** A proposal that becomes a draft. */
export function goodSpec(more: JsonMap = {}): JsonMap {
  return {
    kind: "search", target: { connection: "main", collection: "movies" },
    parameters: [{ name: "genre", path: "genre", dtype: "keyword", op: "eq", required: true }],
    output: { fields: ["title", "year"] },
    ...more,
  };
}

export function proposal(more: Partial<Proposal> = {}): Proposal {
  return { name: "movies_by_genre", description: "List movies of one genre. Use when the user names a genre.", spec: goodSpec(), principal: null, ...more };
}

export function baseFrom(text: string): Base {
  const { base, compilation } = baseOf({ path: "tools.yaml", text }, { target: "build" });
  if (base === null) throw new Error(compilation.diagnostics.map(({ code, message }) => `${code} ${message}`).join("\n"));
  return base;
}

export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface Project {
  readonly folder: string;
  path(name: string): string;
  read(name: string): string;
  write(name: string, text: string): void;
  toolsrv(...words: readonly string[]): Promise<Ended>;
  define(more?: Partial<Proposal>): Promise<DefineResult>;
}

/** A folder with a catalog; removed afterwards. */
export async function inProject(use: (project: Project) => Promise<void>, { catalog = CATALOG, host = nodeHost(), env = { USER: "ana" } }: { readonly catalog?: string; readonly host?: Host; readonly env?: { readonly [name: string]: string } } = {}): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-drafts-"));
  const path = (name: string): string => join(folder, name);
  writeFileSync(path("tools.yaml"), catalog);
  try {
    await use({
      folder, path,
      read: (name) => readFileSync(path(name), "utf8"),
      write: (name, text) => writeFileSync(path(name), text),
      async toolsrv(...words) {
        const io = memoryIo({ cwd: folder, host, env });
        return { code: await run(words, io), out: io.out(), err: io.err() };
      },
      define: (more = {}) => defineTool(host, folder, baseFrom(readFileSync(path("tools.yaml"), "utf8")), proposal(more)),
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The first draft of the project. */
export function draftIn({ read }: Project): DraftRecord {
  const [record] = readDrafts(read(DRAFTS_FILE), DRAFTS_FILE).records;
  if (record === undefined) throw new Error("no draft");
  return record;
}

export { DRAFTS_FILE };
