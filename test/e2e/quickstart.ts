/** The committed quickstart server with its data, for clients of all kinds. */
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../generator/cli/main.js";
import { memoryIo } from "../lib/io.js";
import { repo } from "../lib/repo.js";

export const SERVER = repo("out/server.js");

/** Arguments with which each tool finds something; the first two are the meta tools. */
export const CALLS: { readonly [tool: string]: { readonly [name: string]: unknown } } = {
  list_available_tools: {},
  run_tool: { name: "count_movies", arguments: { genre: ["Western"] } },
  search_movies: { query: "night of the living dead" },
  search_paramount_movies: { query: "star trek" },
  get_movie: { title: "Jurassic Park" },
  count_movies: {},
  list_movies: { director: "Steven Spielberg" },
  search_box_office: { query: "titanic" },
};

/** A call that fails, and the code in its result. */
export const FAILING = { tool: "search_movies", args: { query: 5 }, code: "invalid_arguments" } as const;

/** Loads the films into a folder; returns the file for `--env-file`. */
export async function loadMovies(folder: string): Promise<string> {
  const envFile = join(folder, ".env");
  writeFileSync(envFile, `MOVIES_DB=${join(folder, "movies.db")}\n`);
  const io = memoryIo({ cwd: folder });
  const words = [
    "load", repo("specs/examples/quickstart/tools.yaml"), repo("node_modules/vega-datasets/data/movies.json"), "--connection", "movies", "--collection", "movies",
    "--snake-case", "--types", "release_date:datetime,title:keyword", "--text", "title,major_genre,creative_type,source,director,distributor", "--env-file", envFile,
  ];
  assert.equal(await run(words, io), 0, io.err());
  return envFile;
}
