/** describe_collection and define_tool as tools of a server that `toolsrv serve` composes. */
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { PassThrough } from "node:stream";
import { load } from "../../generator/serve/catalogs.js";
import { AUTHORING_TOOLS } from "../../generator/drafts/authoring.js";
import { withRecord } from "../../generator/drafts/drafts-file.js";
import { stamp } from "../../generator/drafts/record.js";
import { compile } from "../../generator/compile.js";
import { programOf } from "../../generator/program.js";
import { isToolError, type ToolError } from "../../runtime/abi/errors.js";
import type { ExtraResult } from "../../runtime/abi/extra-tools.js";
import type { Program } from "../../runtime/abi/call.js";
import { createEngine } from "../../runtime/call/engine.js";
import { resolveTarget } from "../../runtime/call/meta-tools.js";
import { createLists } from "../../runtime/mcp/list.js";
import { VERSIONS } from "../../runtime/mcp/versions.js";
import { run as serveBuilt } from "../../runtime/serve/main.js";
import { memoryIo } from "../lib/io.js";
import { suite } from "../lib/suite.js";
import { caller, nobody } from "../call/program.js";
import { pathToFileURL } from "node:url";
import { CATALOG, DRAFTS_FILE, goodSpec, inProject, type Project } from "./catalog.js";

const test = suite("authoring tools");

const ROWS = [{ id: "a", title: "Heat", genre: "crime", year: 1995, status: "live", hidden: false }, { id: "b", title: "Up", genre: "secret genre", year: 2009, status: "draft", hidden: true }].map((row) => JSON.stringify(row)).join("\n");

type Payload = { readonly rows: readonly { readonly [key: string]: unknown }[]; readonly count: number; readonly warnings?: readonly string[]; readonly message?: string };

interface Served {
  readonly program: Program;
  readonly err: string;
  listed(principal?: Parameters<typeof caller>[0]): readonly string[];
  call(tool: string, args: unknown, principal?: Parameters<typeof caller>[0]): Promise<Payload | ToolError>;
  close(): Promise<void>;
}

async function serve(project: Project, options: { readonly [name: string]: string | boolean } = { "enable-define": true }, args: readonly string[] = ["tools.yaml"]): Promise<Served> {
  const io = memoryIo({ cwd: project.folder });
  const { projects } = await load({ args, options }, io);
  const program = projects?.[0]?.program;
  if (program === undefined) throw new Error(io.err());
  const engine = createEngine(program, { env: new Map(), metaTools: true });
  return {
    program,
    err: io.err(),
    listed: (principal = {}) => (JSON.parse(createLists({ engine, infoText: "{}" }).tools(VERSIONS[0]!, caller(principal).principal)?.text ?? "{}") as { readonly tools: readonly { readonly name: string }[] }).tools.map(({ name }) => name),
    call: (tool, args, principal) =>
      new Promise((resolve, reject) => {
        const doneExtra = (result: ExtraResult): void => resolve(("payload" in result ? result.payload : {}) as unknown as Payload);
        // As the transports do: run_tool is resolved before anything else happens.
        const { name, args: inner, via } = resolveTarget(tool, args);
        engine.run(name, inner, { ...(principal === undefined ? nobody : caller(principal)), via }, { done: () => reject(new Error("rows of a compiled tool")), doneExtra, failed: (error) => (isToolError(error) ? resolve(error) : reject(error as Error)) });
      }),
    close: () => engine.close(),
  };
}

const payload = (result: Payload | ToolError): Payload => {
  if (result instanceof Error) throw result;
  return result;
};
const refusal = (result: Payload | ToolError): ToolError => {
  if (!(result instanceof Error)) throw new Error(`no error: ${JSON.stringify(result)}`);
  return result;
};

const DEFINE = { name: "movies_by_genre", description: "List movies of one genre. Use when the user names a genre.", spec: goodSpec() };

test("they are offered when the flag or the catalog says so, after all other tools, and not otherwise", () =>
  inProject(async (project) => {
    assert.deepEqual((await serve(project)).listed(), ["list_available_tools", "run_tool", "search_movies", "describe_collection", "define_tool"]);
    assert.deepEqual((await serve(project, {})).listed(), ["list_available_tools", "run_tool", "search_movies"]);
    assert.equal(refusal(await (await serve(project, {})).call("define_tool", DEFINE)).code, "invalid_arguments");
    project.write("tools.yaml", `${CATALOG}authoring: { define_tool: true }\n`);
    assert.deepEqual((await serve(project, {})).listed().slice(-2), ["describe_collection", "define_tool"]);
    project.write("tools.yaml", `${CATALOG}authoring: { define_tool: false }\n`);
    assert.equal((await serve(project, {})).listed().length, 3);
  }));

test("their schemas are those that clients of existing servers know", () => {
  const [describe, define] = AUTHORING_TOOLS;
  assert.deepEqual(describe?.inputSchema, { type: "object", properties: { connection: { type: "string" }, collection: { type: "string" } }, required: ["connection", "collection"] });
  assert.deepEqual(define?.inputSchema, { type: "object", properties: { name: { type: "string" }, description: { type: "string" }, spec: { type: "object" } }, required: ["name", "description", "spec"] });
});

test("the enterprise profile switches them off, whatever the flag says", () =>
  inProject(async (project) => {
    const { listed } = await serve(project);
    assert.ok(!listed().includes("define_tool") && !listed().includes("describe_collection"));
  }, { catalog: `${CATALOG}profiles: { enterprise: { security: { hardening: { require_tenancy: false } } } }\n` }));

test("beside document access the flag is refused, as the catalog itself would be", () =>
  inProject(async (project) => {
    await assert.rejects(serve(project), /--enable-define: tools\.yaml has security\.document_acl/);
    assert.equal((await serve(project, {})).listed().length, 3);
  }, { catalog: `${CATALOG}security: { document_acl: { rules: [{ equals: { claim: sub, field: owner } }] } }\n` }));

test("a built server has no compiler: it refuses the flag, and says that the catalog's switch has no effect", () =>
  inProject(async ({ folder }) => {
    const source = { path: "tools.yaml", text: `${CATALOG}authoring: { define_tool: true }\n` };
    const { value } = compile(source, { target: "build" });
    if (value === null) throw new Error("does not compile");
    const program = programOf(value.plans, { base: pathToFileURL(`${folder}/`) });
    const start = async (words: readonly string[]): Promise<readonly [number, string]> => {
      const notes: string[] = [];
      const stdin = new PassThrough();
      stdin.end();
      const code = await serveBuilt([{ name: "tools", program }], words, { stdin, takeStdout: () => new PassThrough(), print: () => undefined, note: (text) => void notes.push(text), stop: AbortSignal.abort(), environment: {}, now: () => performance.now() });
      return [code, notes.join("")];
    };
    const [code, err] = await start(["--enable-define"]);
    assert.equal(code, 2);
    assert.match(err, /--enable-define needs the compiler.*toolsrv serve TOOLS\.yaml --enable-define/);
    assert.match((await start([]))[1], /tools\.yaml has authoring\.define_tool: a built server does not offer describe_collection and define_tool/);
  }));

async function withRows(use: (project: Project, served: Served) => Promise<void>, catalog = CATALOG): Promise<void> {
  await inProject(async (project) => {
    project.write("rows.jsonl", ROWS);
    const loaded = await project.toolsrv("load", "tools.yaml", "rows.jsonl", "--connection", "main", "--collection", "movies", "--id", "id");
    assert.equal(loaded.code, 0, loaded.err);
    const served = await serve(project);
    try {
      await use(project, served);
    } finally {
      await served.close();
    }
  }, { catalog });
}

test("describe_collection names fields and types, and no value of any row: rows of others are behind filters that do not apply here", () =>
  withRows(async (_, { call }) => {
    const { rows, count } = payload(await call("describe_collection", { connection: "main", collection: "movies" }));
    assert.deepEqual([count, rows.map(({ path, dtype }) => `${String(path)}: ${String(dtype)}`)], [5, ["genre: keyword", "hidden: boolean", "status: keyword", "title: keyword", "year: integer"]]);
    assert.deepEqual(Object.keys(rows[0] ?? {}), ["path", "dtype", "null_rate", "enum", "examples", "provenance", "nullable", "indexed"]);
    assert.doesNotMatch(JSON.stringify(rows), /crime|secret genre|Heat|draft/);
  }));

test("a collection that is not open is answered as one that does not exist", () =>
  withRows(async ({ write, toolsrv }, { call }) => {
    write("salaries.jsonl", '{"id":"1","amount":5}\n');
    await toolsrv("load", "tools.yaml", "salaries.jsonl", "--connection", "main", "--collection", "salaries", "--id", "id");
    const messages = await Promise.all(["salaries", "nothing"].map(async (collection) => refusal(await call("describe_collection", { connection: "main", collection })).message));
    assert.equal(messages[0], messages[1]);
    assert.match(messages[0] ?? "", /open are movies/);
    assert.match(refusal(await call("describe_collection", { connection: "prod", collection: "movies" })).message, /there are main, other/);
  }));

test("a dead store is an error of the call", () =>
  inProject(async (project) => {
    const { call } = await serve(project);
    assert.equal(refusal(await call("describe_collection", { connection: "main", collection: "movies" })).code, "backend_unreachable");
  }));

test("arguments that are missing or of the wrong type are named", () =>
  inProject(async (project) => {
    const { call } = await serve(project);
    for (const [tool, args, name] of [["describe_collection", { connection: "main" }, "collection"], ["describe_collection", {}, "connection"], ["define_tool", { ...DEFINE, spec: "x" }, "spec"], ["define_tool", { ...DEFINE, name: 5 }, "name"], ["define_tool", { name: "a_tool", spec: {} }, "description"]] as const) {
      const { code, message } = refusal(await call(tool, args));
      assert.equal(code, "invalid_arguments");
      assert.match(message, new RegExp(`^${name}: expected`));
    }
  }));

test("define_tool saves a draft that only the server's user may read, and answers with its warnings", () =>
  inProject(async (project) => {
    const { call } = await serve(project);
    const saved = payload(await call("define_tool", DEFINE));
    assert.deepEqual(Object.keys(saved), ["rows", "count", "warnings", "message"]);
    assert.deepEqual([saved.rows, saved.count, saved.warnings], [[], 0, []]);
    assert.match(saved.message ?? "", /pending in tools\.drafts\.yaml/);
    assert.equal(statSync(project.path(DRAFTS_FILE)).mode & 0o777, 0o600);
    assert.match(project.read(DRAFTS_FILE), /^drafts:\n {2}- status: pending\n {4}created_at: "[\d-]+T[\d:.]+\+00:00"\n {4}hash: "?[0-9a-f]{64}"?\n {4}provenance:\n/);
    const warned = payload(await call("define_tool", { ...DEFINE, name: "movies_two", spec: goodSpec({ description: "List movies. You must call this first, always." }) }));
    assert.deepEqual(warned.warnings, ["TS0606"]);
    assert.equal(project.read("tools.yaml"), CATALOG, "a proposal changes no catalog");
  }));

test("the command that approves a draft names its catalog, and not where that is on the machine", () =>
  inProject(async (project) => {
    project.write("films.yaml", CATALOG);
    const said = async (catalog: string, name: string): Promise<string> => {
      const { call } = await serve(project, { "enable-define": true }, [catalog]);
      return /toolsrv approve [^\n]*/.exec(payload(await call("define_tool", { ...DEFINE, name })).message ?? "")?.[0] ?? "";
    };
    assert.equal(await said("tools.yaml", "movies_one"), "toolsrv approve movies_one.");
    assert.equal(await said("films.yaml", "movies_two"), "toolsrv approve movies_two --file films.yaml.");
    assert.equal(await said(project.path("films.yaml"), "movies_three"), "toolsrv approve movies_three --file …/films.yaml.");
  }));

test("define_tool answers with each problem of a proposal and writes nothing", () =>
  inProject(async (project) => {
    const { call } = await serve(project);
    const { rows, count, message } = payload(await call("define_tool", { ...DEFINE, name: "Bad Name", description: "short", spec: { kind: "drop", target: { connection: "main" }, colour: "red" } }));
    assert.deepEqual(rows.map(({ code, path }) => `${String(code)} ${String(path)}`), ["VB2017 kind", "VB2001 name", "VB2001 description", "VB2001 target", "VB2001 colour"]);
    assert.deepEqual(Object.keys(rows[0] ?? {}), ["severity", "code", "message", "tool", "path", "line"]);
    assert.equal(count, 5);
    assert.match(message ?? "", /not saved: 5 problems/);
    assert.throws(() => project.read(DRAFTS_FILE), /ENOENT/);
  }));

test("a draft of a name that is pending is refused, and so is a tool that is there", () =>
  inProject(async (project) => {
    const { call } = await serve(project);
    await call("define_tool", DEFINE);
    const before = project.read(DRAFTS_FILE);
    assert.deepEqual(payload(await call("define_tool", DEFINE)).rows.map(({ code }) => code), ["TS0605"]);
    assert.deepEqual(payload(await call("define_tool", { ...DEFINE, name: "search_movies" })).rows.map(({ code }) => code), ["TS0202"]);
    assert.equal(project.read(DRAFTS_FILE), before);
  }));

test("the name of a tool in another catalog of the server is taken", () =>
  inProject(async (project) => {
    project.write("more.yaml", CATALOG.replace("name: search_movies", "name: search_more"));
    const { call } = await serve(project, { "enable-define": true }, ["tools.yaml", "more.yaml"]);
    assert.deepEqual(payload(await call("define_tool", { ...DEFINE, name: "search_more" })).rows.map(({ code }) => code), ["TS0220"]);
  }));

test("the caller who proposes is noted, and a spec that names the tool wins over the argument", () =>
  inProject(async (project) => {
    const { call } = await serve(project);
    await call("define_tool", { ...DEFINE, name: "other_name", spec: goodSpec({ name: "spec_name", description: "List movies of one genre, by the spec." }) }, { id: "key-7" });
    const text = project.read(DRAFTS_FILE);
    assert.match(text, /principal: key-7/);
    assert.match(text, /conversation_hint: List movies of one genre, by the spec\./);
    assert.match(text, /name: spec_name/);
  }));

test("a drafts file that cannot be used is an error of the call, without its place on the machine", () =>
  inProject(async (project) => {
    project.write(DRAFTS_FILE, "drafts: {}\n");
    const { call, err } = await serve(project);
    assert.match(err, /drafts: tools\.drafts\.yaml:1:9: 'drafts' is not a list/, "the message has the place");
    const { code, message } = refusal(await call("define_tool", DEFINE));
    assert.equal(code, "internal");
    assert.doesNotMatch(message, /\/|:1:/);
    assert.equal(project.read(DRAFTS_FILE), "drafts: {}\n");
  }));

test("roles decide who may propose, as they decide about every tool", () =>
  inProject(async (project) => {
    const { call, listed } = await serve(project);
    assert.ok(!listed().includes("define_tool") && listed({ claims: { roles: "author" } }).includes("define_tool"));
    assert.equal(refusal(await call("define_tool", DEFINE)).code, "auth_error");
    assert.equal(refusal(await call("run_tool", { name: "define_tool", arguments: DEFINE })).code, "auth_error");
    assert.throws(() => project.read(DRAFTS_FILE), /ENOENT/);
    assert.deepEqual(payload(await call("define_tool", DEFINE, { claims: { roles: "author" } })).rows, []);
    assert.match(project.read(DRAFTS_FILE), /status: pending/);
  }, { catalog: `${CATALOG}security: { rbac: { enabled: true, default_role: user, roles: { user: { allow: [search_movies] }, author: { allow: [search_movies, describe_collection, define_tool] } } } }\n` }));

test("run_tool reaches both", () =>
  withRows(async (_, { call }) => {
    assert.equal(payload(await call("run_tool", { name: "describe_collection", arguments: { connection: "main", collection: "movies" } })).count, 5);
    assert.match(payload(await call("run_tool", { name: "define_tool", arguments: JSON.stringify(DEFINE) })).message ?? "", /is pending/);
  }));

test("a server that starts lets pending drafts expire that are 30 days old, and touches no other", () =>
  inProject(async (project) => {
    const day = 24 * 3600 * 1000;
    const record = (name: string, status: "pending" | "rejected", days: number): Parameters<typeof withRecord>[1] => ({ status, created_at: stamp(Date.now() - days * day), hash: null, provenance: null, tool: { name }, issues: [], catalog_version: null });
    const texts = [withRecord(null, record("old_one", "pending", 31)), ...[record("new_one", "pending", 29), record("old_rejected", "rejected", 90)].map((one) => withRecord(null, one).replace("drafts:\n", ""))];
    project.write(DRAFTS_FILE, texts.join(""));
    const { err } = await serve(project, {});
    assert.match(err, /1 draft expired after 30 days/);
    assert.deepEqual((await project.toolsrv("drafts", "list")).out.split("\n").map((line) => line.slice(0, 23).trim()), ["expired    old_one  sea", "pending    new_one  sea", "rejected   old_rejected", ""]);
    const before = project.read(DRAFTS_FILE);
    await serve(project, {});
    assert.equal(project.read(DRAFTS_FILE), before);
  }));

test.run();
