/**
 * The made-up rows of a twin as a file: `toolsrv build --twin` writes it beside the program, `toolsrv serve --twin` makes
 * the same text in memory. Both are read here, so that the two have the same rows.
 */
import { z } from "zod";
import { ToolError } from "../abi/errors.js";
import type { Row } from "../abi/filter.js";
import type { FieldInfo } from "../adapters/adapter.js";

/** A row, and the text that searches compare: that of its fields, and the words of the scenario that it is for. */
export interface TwinRow {
  readonly row: Row;
  readonly text: string;
}

export interface TwinCollection {
  readonly fields: readonly FieldInfo[];
  readonly rows: readonly TwinRow[];
}

/** By connection and collection. */
export type TwinStore = ReadonlyMap<string, ReadonlyMap<string, TwinCollection>>;

/** Everything of a twin that the program itself does not have. */
export interface TwinData {
  /** Decides which calls fail; the rows were made with it too. */
  readonly seed: number;
  /** Made-up values of references in guards, by name; the rows have them. */
  readonly values: ReadonlyMap<string, string>;
  readonly store: TwinStore;
}

const ROW = z.record(z.string(), z.unknown()).refine((row) => ["string", "number"].includes(typeof row["_id"]), { message: "a row needs an _id" });
const FIELD = z.strictObject({ path: z.string(), dtype: z.enum(["keyword", "integer", "float", "boolean", "datetime", "keyword[]", "unknown"]), nullable: z.boolean(), indexed: z.boolean() });
const FILE = z.strictObject({
  toolsrv_twin: z.literal(1),
  seed: z.int(),
  values: z.record(z.string(), z.string()),
  connections: z.record(z.string(), z.record(z.string(), z.strictObject({ fields: z.array(FIELD), rows: z.array(z.strictObject({ row: ROW, text: z.string() })) }))),
});

/** The file's text: one row a line, so that a change of a scenario or an export is a change of some lines. */
export function twinText({ seed, values, store }: TwinData): string {
  const json = (value: unknown): string => JSON.stringify(value);
  const list = (items: readonly string[], indent: string): string => (items.length === 0 ? "" : `\n${items.map((item) => `${indent}${item}`).join(",\n")}\n${indent.slice(2)}`);
  const connections = [...store].map(([connection, collections]) => {
    const inside = [...collections].map(([name, { fields, rows }]) => {
      const shown = fields.map(({ path, dtype, nullable, indexed }) => json({ path, dtype, nullable, indexed }));
      return `${json(name)}: {\n        "fields": [${list(shown, "          ")}],\n        "rows": [${list(rows.map(({ row, text }) => json({ row, text })), "          ")}]\n      }`;
    });
    return `${json(connection)}: {${list(inside, "      ")}}`;
  });
  return `{\n  "toolsrv_twin": 1,\n  "seed": ${seed},\n  "values": ${json(Object.fromEntries(values))},\n  "connections": {${list(connections, "    ")}}\n}\n`;
}

/** @throws ToolError tds_invalid for a text that no build wrote. */
export function readTwin(text: string, file: string): TwinData {
  const { seed, values, connections } = parsed(text, file);
  const store = new Map(Object.entries(connections).map(([connection, collections]) => [connection, new Map(Object.entries(collections) as [string, TwinCollection][])] as const));
  return { seed, values: new Map(Object.entries(values)), store };
}

function parsed(text: string, file: string): z.infer<typeof FILE> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw unusable(file, (error as SyntaxError).message);
  }
  const read = FILE.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw unusable(file, `${issue?.path.map(String).join(".") ?? ""}: ${issue?.message ?? "not understood"}`);
}

function unusable(file: string, why: string): ToolError {
  return new ToolError("tds_invalid", `${file} does not hold the rows of a twin (${why.slice(0, 200)}): write it again with toolsrv build --twin`);
}
