/** Catalogs that the emit tests share: an everyday one, an empty one, a large one, and one that wants to break out. */
import type { Checked } from "../../generator/ir.js";
import { checked, connection, output, parameter, query, tool } from "./fixtures.js";

const at = [] as const;

/** Text with everything that ends, opens or hides something in TypeScript, a comment, a template or a terminal. */
export const HOSTILE =
  "It's \"quoted\" `tick` ${process.exit(1)} */ /* // </script> \\ \\u0041 {{name}} {{{raw}}} {{> header}} \u2028\u2029 \u202E\u2066 \u0000\u001b[31m \ud800 é 映画 🎬 " +
  "line\r\nbreak. Second sentence.";

function everyday(): Checked {
  return checked([
    tool("search_movies", {
      query: query({ required: true, minScore: 0.1 }),
      parameters: [
        parameter("genre", { path: "major_genre", op: "in", enum: ["Action", "Drama"], description: "Any of these." }),
        parameter("min_rating", { path: "imdb_rating", dtype: "float", op: "gte", max: 10 }),
        parameter("sort", { default: "rating", enum: ["rating", "title"] }),
      ],
      staticFilters: { must: [{ path: "distributor", op: "eq", value: "Paramount Pictures", at }], mustNot: [{ path: "year", op: "lt", value: 1950, at }] },
      output: output({ fields: ["title", "imdb_rating"], limitDefault: 5, limitMax: 20, redact: [{ path: "director", mode: "hash", patterns: [], at }] }),
    }),
    tool("get_movie", { kind: "lookup", parameters: [parameter("id", { path: "id", op: "eq", required: true })], output: output({ limitDefault: 1, limitMax: 1 }), deadlineS: 2.5 }),
    tool("count_movies", { kind: "count" }),
    tool("list_movies", { kind: "scroll" }),
    tool(`a_name_of_sixty_four_characters_${"x".repeat(32)}`, { query: query(), description: `${"long ".repeat(200)}` }),
    tool("rank_movies", {
      kind: "pipeline", target: null, 
      parameters: [
        parameter("per", { dtype: "integer", default: 2 }),
        parameter("studio", { path: "studio", op: "eq", resolve: { kind: "directory", connection: null, collection: null, field: "name", minConfidence: 0.72, maxCandidates: 5000, cacheTtlS: 600, dates: [], staticFilters: { must: [], mustNot: [] } } }),
      ],
      staticFilters: { must: [{ path: "public", op: "eq", value: true, at }], mustNot: [] },
      steps: [
        { kind: "retrieve", at, target: { connection: "main", collection: "things", at }, query: query({ required: true }), filter: { and: [{ path: "year", op: "gte", value: 1990 }, { path: "lang", op: "eq", param: "lang" }] }, kParam: "limit", overfetchFactor: 10, maxCandidates: 2000 },
        { kind: "post_filter", at, expr: "votes * 2 > 10 and not (kind == 'short')" },
        { kind: "group_by", at, keys: ["director"], perGroup: { sortBy: "votes", desc: true, take: "params.per" } },
        { kind: "sort", at, by: "votes", desc: true, nulls: "last" },
        { kind: "project", at, fields: ["title", "votes"] },
      ],
    }),
    tool("list_main_collections", { kind: "meta", origin: "list_collections", target: { connection: "main", collection: { arg: "collection", allowed: null }, at } }),
  ], { connections: [connection("main", { settings: { path: { env: "MOVIES_DB", default: "./movies.db" } } })], settings: { deadline_s: 10 } });
}

function hostile(): Checked {
  const names = ["delete", "class", "default", "plans", "plans_", "schemas", "handlers", "rt_", "constructor", "__proto__", "aux", "to_string"];
  return checked(
    names.map((name) =>
      tool(name, {
        description: HOSTILE.repeat(3),
        query: query({ param: "__proto__" }),
        parameters: [parameter("d", { default: HOSTILE.repeat(2) }), parameter("constructor", { path: "a", op: "in", enum: [HOSTILE, `${HOSTILE}2`, "x".repeat(200)], description: HOSTILE })],
        staticFilters: { must: [{ path: "a", op: "eq", value: HOSTILE, at }, { path: "n", op: "eq", value: -0, at }], mustNot: [] },
        output: output({ fields: ["__proto__"], maxFieldLength: 10, truncateSuffix: HOSTILE }),
      }),
    ),
    {
      catalogVersion: HOSTILE,
      connections: [connection("main", { settings: { path: HOSTILE, "weird key": 1, ["__proto__"]: "p" } }), connection(HOSTILE.slice(0, 40)), connection("__proto__")],
    },
  );
}

function large(): Checked {
  return checked(Array.from({ length: 24 }, (_, n) => tool(`find_${String(n).padStart(2, "0")}${"_".repeat(n * 2)}x`, { query: query() })));
}

export const CATALOGS: { readonly [name: string]: () => Checked } = { everyday, "no tools": () => checked([]), large, hostile };
