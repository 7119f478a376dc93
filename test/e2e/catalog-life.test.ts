/**
 * The life of a catalog over the films of the quickstart: what the store holds, what is proposed from it and approved,
 * scenarios that hold, and a change of the store that names the tools it breaks.
 */
import assert from "node:assert/strict";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { parse, stringify } from "yaml";
import { EXIT } from "../../generator/cli/exit.js";
import { run } from "../../generator/cli/main.js";
import { memoryIo } from "../lib/io.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";
import { loadMovies } from "./quickstart.js";

const test = suite("the life of a catalog");

const here = fileURLToPath(import.meta.url);
const toolsrvFile = join(here, `../toolsrv${extname(here)}`);

interface Draft { readonly tool: { readonly name: string; readonly parameters: readonly { readonly name: string }[] } }

/** A draft as an agent makes it: define_tool, called through an MCP client of a server that runs. */
async function propose(folder: string, env: readonly string[]): Promise<void> {
  const client = new Client({ name: "agent", version: "1.0.0" });
  try {
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [...process.execArgv.map((flag) => (flag === "tsx" ? import.meta.resolve(flag) : flag)), toolsrvFile, "serve", "tools.yaml", "--enable-define", "--no-watch", ...env], cwd: folder, stderr: "ignore" }));
    const spec = { kind: "scroll", target: { connection: "movies", collection: "movies" }, parameters: [{ name: "studio", path: "distributor", dtype: "keyword", op: "eq", required: true, description: "The studio, as 'Paramount Pictures'." }], output: { fields: ["title", "distributor"] } };
    const { structuredContent } = await client.callTool({ name: "define_tool", arguments: { name: "films_of_studio", description: "List the films of one studio. Use when the user names a studio.", spec } });
    assert.match(String((structuredContent as { readonly message: string }).message), /Draft 'films_of_studio' is pending/, JSON.stringify(structuredContent));
  } finally {
    await client.close();
  }
}

test("introspect, discover, define by a client, approve, build, eval, and drift that names the tools of a changed store", async () => {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-e2e-life-"));
  const read = (name: string): string => readFileSync(join(folder, name), "utf8");
  const toolsrv = async (...words: readonly string[]): Promise<{ readonly code: number; readonly out: string; readonly err: string }> => {
    const io = memoryIo({ cwd: folder, env: { USER: "ana" } });
    return { code: await run(words, io), out: io.out(), err: io.err() };
  };
  try {
    copyFileSync(repo("specs/examples/quickstart/tools.yaml"), join(folder, "tools.yaml"));
    const env = ["--env-file", await loadMovies(folder)];
    const movies = ["--connection", "movies", ...env];
    const ends = async (code: number, ...words: readonly string[]): Promise<{ readonly out: string; readonly err: string }> => {
      const { code: found, out, err } = await toolsrv(...words);
      assert.equal(found, code, `${words.join(" ")}\n${out}${err}`);
      return { out, err };
    };
    await ends(EXIT.OK, "build", "--no-trace");
    await ends(EXIT.OK, "introspect", "tools.yaml", ...movies);
    await ends(EXIT.OK, "drift", "tools.yaml", "schema.json", ...movies, "--experimental");

    const original = read("tools.yaml");
    await ends(EXIT.OK, "discover", "tools.yaml", ...movies, "--experimental");
    const { drafts } = parse(read("tools.discovered.drafts.yaml")) as { readonly drafts: readonly Draft[] };
    assert.deepEqual([drafts.map(({ tool }) => tool.name), drafts[0]?.tool.parameters.length, read("tools.yaml")], [["search_movies_2"], 8, original]);

    await propose(folder, env);
    const { drafts: defined } = parse(read("tools.drafts.yaml")) as { readonly drafts: readonly Draft[] };
    writeFileSync(join(folder, "tools.drafts.yaml"), stringify({ drafts: [...defined, ...drafts] }, { version: "1.1" }));
    assert.deepEqual((await ends(EXIT.OK, "drafts", "list")).out.split("\n").map((line) => line.split(/ +/).slice(0, 2).join(" ")), ["pending films_of_studio", "pending search_movies_2", ""]);
    for (const name of ["films_of_studio", "search_movies_2"]) await ends(EXIT.OK, "approve", name, "--dry-run");
    await ends(EXIT.OK, "build", "--no-trace", "--check");
    assert.equal(read("tools.yaml"), original, "nothing was approved yet");
    for (const name of ["films_of_studio", "search_movies_2"]) await ends(EXIT.OK, "approve", name);
    await ends(EXIT.FINDINGS, "build", "--no-trace", "--check");
    await ends(EXIT.OK, "build", "--no-trace");

    copyFileSync(repo("specs/examples/quickstart/scenarios.yaml"), join(folder, "scenarios.yaml"));
    await ends(EXIT.OK, "eval", "tools.yaml", "scenarios.yaml", "--experimental", ...env);
    await ends(EXIT.OK, "eval", "tools.yaml", "--generate", "--experimental", ...env);
    const proposed = parse(read("scenarios.generated.yaml")) as { readonly scenarios: readonly { readonly call: { readonly tool: string } }[] };
    for (const name of ["films_of_studio", "search_movies_2"]) assert.ok(proposed.scenarios.some(({ call }) => call.tool === name), `${name} has a scenario`);
    await ends(EXIT.OK, "eval", "tools.yaml", "scenarios.generated.yaml", "--experimental", ...env);

    const films = JSON.parse(readFileSync(repo("node_modules/vega-datasets/data/movies.json"), "utf8")) as readonly { readonly [key: string]: unknown }[];
    writeFileSync(join(folder, "changed.json"), JSON.stringify(films.map(({ "IMDB Rating": rating, Director: _, ...film }) => ({ ...film, Rating: rating }))));
    const words = ["--connection", "movies", "--collection", "movies", "--snake-case", "--types", "release_date:datetime,title:keyword", "--text", "title,major_genre,creative_type,source,distributor", "--replace"];
    await ends(EXIT.OK, "load", "tools.yaml", "changed.json", ...words, ...env);
    const { out } = await ends(EXIT.FINDINGS, "drift", "tools.yaml", "schema.json", ...movies, "--experimental");
    assert.match(out, /\+ movies\.rating \(float\)[^]*- movies\.director \(keyword\)\n- movies\.imdb_rating \(float\)/);
    const { affected_tools: affected } = JSON.parse(read("toolsrv-drift.json")) as { readonly affected_tools: readonly { readonly tool: string; readonly effects: readonly { readonly effect: string; readonly path: string }[] }[] };
    const named = Object.fromEntries(affected.map(({ tool, effects }) => [tool, [...new Set(effects.map(({ effect, path }) => `${effect} ${path}`))].sort()]));
    assert.deepEqual(named, {
      search_movies: ["changes director", "changes imdb_rating", "fails imdb_rating"],
      search_paramount_movies: ["changes imdb_rating", "fails imdb_rating"],
      get_movie: ["fails director"],
      list_movies: ["changes director", "changes imdb_rating", "fails director"],
      search_box_office: ["changes director"],
      search_movies_2: ["changes director", "fails imdb_rating"],
    });
    await ends(EXIT.FINDINGS, "eval", "tools.yaml", "scenarios.yaml", "--experimental", ...env);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, { timeoutMs: 180_000 });

test.run();
