/** The library door: the same plans and the same call path as the server, in the application's own process. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { runInNewContext } from "node:vm";
import { EXIT } from "../../generator/cli/exit.js";
import { run } from "../../generator/cli/main.js";
import { type Arguments, CatalogError, compile, connect, isToolError, type CallOptions, type CatalogOptions, type CatalogSource, type Connection } from "../../generator/index.js";
import { memoryIo } from "../lib/io.js";
import { suite } from "../lib/suite.js";

const test = suite("library door");

const CATALOG = {
  tds_version: "2",
  connections: { store: { backend: "sqlite", path: "${DOOR_TEST_DB:-./store.db}" } },
  defaults: { embedding: "local/hashing-256" },
  tools: [
    {
      name: "search_notes", description: "Search notes by their words. Use when the user looks for a note.", query: { required: true },
      target: { connection: "store", collection: "notes" }, parameters: [{ name: "colour", path: "colour" }], static_filters: [{ path: "public", value: true }],
    },
    { name: "count_notes", kind: "count", description: "Count the notes of the store. Use for questions after a number.", target: { connection: "store", collection: "notes" } },
  ],
};
const ROWS = [
  { id: "a", text: "red apples", colour: "red", public: true },
  { id: "b", text: "green apples", colour: "green", public: true },
  { id: "c", text: "secret apples", colour: "red", public: false },
];

async function inProject(use: (folder: string) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-door-"));
  writeFileSync(join(folder, "tools.yaml"), JSON.stringify(CATALOG));
  writeFileSync(join(folder, "rows.jsonl"), ROWS.map((row) => JSON.stringify(row)).join("\n"));
  const io = memoryIo({ cwd: folder });
  try {
    assert.equal(await run(["load", "tools.yaml", "rows.jsonl", "--connection", "store", "--collection", "notes", "--id", "id"], io), EXIT.OK, io.err());
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function using(source: CatalogSource, options: CatalogOptions, use: (connection: Connection) => Promise<void>): Promise<void> {
  const connection = await connect(source, options);
  try {
    await use(connection);
  } finally {
    await connection.close();
  }
}

test("a catalog is given as a path, a URL or a value, and its guard holds in each form", () =>
  inProject(async (folder) => {
    const path = join(folder, "tools.yaml");
    const forms: readonly (readonly [CatalogSource, CatalogOptions])[] = [[path, {}], [pathToFileURL(path), {}], [CATALOG, { base: folder }]];
    for (const [source, options] of forms) {
      await using(source, options, async (connection) => {
        const { rows } = await connection.call("search_notes", { query: "apples" });
        assert.deepEqual(rows.map(({ _id }) => _id).sort(), ["a", "b"]);
        assert.deepEqual(connection.tools().map(({ name }) => name), ["search_notes", "count_notes"]);
        assert.equal((await connection.health())["store"]?.ok, true);
      });
    }
  }));

test("null and undefined arguments are absent", () =>
  inProject(async (folder) => {
    await using(join(folder, "tools.yaml"), {}, async (connection) => {
      const { count } = await connection.call("search_notes", { query: "apples", colour: null, limit: undefined });
      assert.equal(count, 2);
      assert.equal((await connection.call("count_notes")).count, 3);
    });
  }));

test("arguments in a Map, a list or a class are refused, and never read as none", () =>
  inProject(async (folder) => {
    class Args {
      readonly query = "apples";
    }
    await using(join(folder, "tools.yaml"), {}, async (connection) => {
      const call = (args: unknown): Promise<unknown> => connection.call("count_notes", args as Arguments);
      for (const [args, name] of [[new Map([["query", "apples"]]), "an instance of Map"], [new Args(), "an instance of Args"], [new Date(0), "an instance of Date"], [Object.create({ query: "apples" }), "an object that inherits from another"]] as const) {
        await assert.rejects(call(args), { name: "TypeError", message: `arguments are a plain object of values by name, not ${name}` });
      }
      await assert.rejects(call([]), { name: "ToolError" });
      await assert.rejects(call("apples"), { name: "ToolError" });
      assert.equal(((await call(Object.create(null))) as { count: number }).count, 3);
      assert.equal(((await call(runInNewContext("({})"))) as { count: number }).count, 3);
    });
  }));

test("values come from the process, then env, then the file; the last wins", () =>
  inProject(async (folder) => {
    const path = join(folder, "tools.yaml");
    writeFileSync(join(folder, "values.env"), "DOOR_TEST_DB=./store.db\n");
    const reaches = async (options: CatalogOptions): Promise<boolean> => {
      const connection = await connect(path, options);
      const found = await connection.call("count_notes").then(() => true, () => false);
      await connection.close();
      return found;
    };
    process.env["DOOR_TEST_DB"] = "./nowhere.db";
    try {
      assert.equal(await reaches({}), false);
      assert.equal(await reaches({ env: { DOOR_TEST_DB: "./store.db" } }), true);
      assert.equal(await reaches({ env: { DOOR_TEST_DB: "./nowhere.db" }, envFile: join(folder, "values.env") }), true);
    } finally {
      delete process.env["DOOR_TEST_DB"];
    }
    await assert.rejects(connect(path, { envFile: join(folder, "absent.env") }), CatalogError);
  }));

test("a bad call is a ToolError, an unknown name a RangeError that lists the tools", () =>
  inProject(async (folder) => {
    await using(join(folder, "tools.yaml"), {}, async (connection) => {
      await assert.rejects(connection.call("search_notes", {}), (error) => isToolError(error) && error.code === "invalid_arguments" && error.message.includes("query"));
      await assert.rejects(connection.call("nope"), /no tool 'nope'; the catalog has search_notes, count_notes/);
      await assert.rejects(connection.call("constructor"), RangeError);
    });
  }));

test("a call ends with its own deadline or signal", () =>
  inProject(async (folder) => {
    await using(join(folder, "tools.yaml"), {}, async (connection) => {
      const code = (want: string) => (error: unknown): boolean => isToolError(error) && error.code === want;
      await assert.rejects(connection.call("search_notes", { query: "apples" }, { signal: AbortSignal.abort() }), code("cancelled"));
      await assert.rejects(connection.call("search_notes", { query: "apples" }, { deadlineS: 0 }), code("timeout"));
      assert.equal((await connection.call("search_notes", { query: "apples" }, { principal: "ann", claims: { org: 1 }, roles: ["a"], deadlineS: 20, requestId: "r" })).count, 2);
    });
  }));

test("roles that the application states stand where the catalog reads them, and decide every call", () =>
  inProject(async (folder) => {
    const rbac = { enabled: true, default_role: "reader", role_claim: "groups", roles: { reader: { allow: ["count_notes"] }, owner: { allow: ["*"] } }, deny_tools: [] };
    await using({ ...CATALOG, security: { rbac } }, { base: folder }, async (connection) => {
      const refused = (error: unknown): boolean => isToolError(error) && error.code === "auth_error";
      const search = (options: CallOptions): Promise<unknown> => connection.call("search_notes", { query: "apples" }, options);
      assert.equal((await connection.call("count_notes")).count, 3);
      await assert.rejects(search({}), refused);
      await assert.rejects(search({ roles: [] }), refused);
      await assert.rejects(connection.call("count_notes", {}, { roles: [] }), refused);
      await assert.rejects(search({ roles: ["nobody"] }), refused);
      await assert.rejects(search({ roles: ["owner"], claims: { groups: "reader" } }), refused);
      await assert.rejects(search({ claims: { roles: ["owner"] } }), refused);
      await search({ roles: ["owner"] });
      await search({ claims: { groups: ["reader", "owner"] } });
    });
  }));

test("a catalog with errors throws all of them, with positions", async () => {
  const broken = { ...CATALOG, tools: [{ ...CATALOG.tools[1], target: { connection: "stor", collection: "notes" } }, { ...CATALOG.tools[0], query: { alpha: 7 } }] };
  await assert.rejects(connect(broken), (error) => {
    assert.ok(error instanceof CatalogError);
    assert.ok(error.diagnostics.length >= 2, error.message);
    assert.match(error.message, /^catalog:\d+:\d+ \w+: /);
    return true;
  });
  await assert.rejects(compile("/nowhere/tools.yaml"), CatalogError);
});

test("compile returns plans, guards and what is worth a look", async () => {
  const { plans, guards, diagnostics } = await compile({ ...CATALOG, surprise: 1 });
  assert.deepEqual(Object.keys(plans.tools), ["search_notes", "count_notes"]);
  assert.deepEqual(guards.map(({ tool, branches }) => [tool, branches[0]?.guards]), [["search_notes", ["public eq true"]], ["count_notes", []]]);
  assert.deepEqual(diagnostics.map(({ code }) => code), ["VB0001"]);
});

test("an expression over an optional argument that was not given fails with expr_error and names the argument", () =>
  inProject(async (folder) => {
    const pipeline = (name: string, expression: string): object => ({
      name, kind: "pipeline", description: "Notes whose colour is the one that is asked for, as far as there are any.",
      parameters: [{ name: "colour" }, { name: "shade", default: "red" }],
      steps: [{ retrieve: { target: { connection: "store", collection: "notes" }, fetch: { k_param: "limit" } } }, { post_filter: { expr: expression } }],
    });
    const catalog = { ...CATALOG, tools: [pipeline("by_colour", "colour == params.colour"), pipeline("by_either", "colour == params.shade or colour == params.colour"), pipeline("by_default", "colour == params.shade")] };
    await using(catalog as CatalogSource, { base: folder }, async ({ call }) => {
      for (const [tool, args] of [["by_colour", {}], ["by_colour", { colour: null }], ["by_colour", { Colour: "red" }], ["by_either", { shade: "green" }]] as const) {
        await assert.rejects(call(tool, args), (error: unknown) => {
          assert.ok(isToolError(error), String(error));
          assert.deepEqual([error.code, error.message], ["expr_error", "colour: needed by this tool's post_filter; give the argument, or give the parameter a default"]);
          return true;
        });
      }
      assert.equal((await call("by_colour", { colour: "red" })).count, 2);
      assert.equal((await call("by_default", {})).count, 2);
    });
  }));

test("a catalog that breaks its enterprise profile is neither served nor connected to, and the key is named", () =>
  inProject(async (folder) => {
    const [search] = CATALOG.tools;
    const table: readonly (readonly [key: string, hardening: object, tool: object])[] = [
      ["require_tenancy", {}, { static_filters: [] }],
      ["max_limit_max", { max_limit_max: 10 }, { output: { limit_max: 11, limit_default: 5 } }],
      ["allowed_backends", { allowed_backends: ["qdrant"] }, {}],
    ];
    for (const [key, hardening, change] of table) {
      const broken = { ...CATALOG, profiles: { enterprise: { security: { hardening } } }, tools: [{ ...search, ...change }] };
      const named = new RegExp(`enterprise hardening: profiles\\.enterprise\\.${key} `);
      await assert.rejects(connect(broken, { base: folder }), (error: unknown) => error instanceof CatalogError && named.test(error.message), key);
      await assert.rejects(compile(broken, { base: folder }), named);
      writeFileSync(join(folder, "broken.yaml"), JSON.stringify(broken));
      for (const flags of [[], ["--http", "127.0.0.1:0", "--auth", "none"]]) {
        const io = memoryIo({ cwd: folder });
        assert.equal(await run(["serve", "broken.yaml", ...flags], io), EXIT.USAGE, key);
        assert.match(io.err(), named);
      }
    }
    const kept = { ...CATALOG, profiles: { enterprise: {} }, tools: [search] };
    await using(kept, { base: folder }, async (connection) => assert.equal(connection.tools().length, 1));
  }));

test("under the enterprise profile a built-in tool does not return what another tool redacts", () =>
  inProject(async (folder) => {
    const [search] = CATALOG.tools;
    const connections = { store: { ...CATALOG.connections.store, builtin_tools: { get_by_id: true } } };
    const redacting = { ...CATALOG, connections, tools: [{ ...search, output: { redact: [{ path: "colour", mode: "hash" }] } }] };
    const { diagnostics } = await compile(redacting, { base: folder });
    assert.deepEqual(diagnostics.flatMap(({ code, severity }) => (code === "TS0231" ? [severity] : [])), ["warning"]);
    const strict = { ...redacting, profiles: { enterprise: { security: { hardening: { require_tenancy: false } } } } };
    await assert.rejects(compile(strict, { base: folder }), /TS0231: get_store_by_id returns 'colour' as it is, which the tool 'search_notes' redacts/);
  }));

test.run();
