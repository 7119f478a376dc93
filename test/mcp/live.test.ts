import * as assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import type { Engine, Program } from "../../runtime/abi/call.js";
import type { Project } from "../../runtime/abi/projects.js";
import { createEngine } from "../../runtime/call/engine.js";
import { notificationText } from "../../runtime/mcp/jsonrpc.js";
import { createMcpServer } from "../../runtime/mcp/server.js";
import { createLog } from "../../runtime/observe/log.js";
import { ReloadableCatalogs, type ProgramSource } from "../../runtime/serve/reloadable-catalogs.js";
import { routingOf } from "../../runtime/serve/projects.js";
import { OWNER, serveStdio } from "../../runtime/serve/stdio/server.js";
import { suite } from "../lib/suite.js";
import { fixtureProgram } from "./program.js";

const test = suite("live");

/** A catalog that a test edits. */
class Edited implements ProgramSource {
  readonly name = "tools.yaml";
  private current: Program | null;
  private onChange: () => void = () => undefined;
  loads = 0;

  constructor(first: Program) {
    this.current = first;
  }

  watch(onChange: () => void): () => void {
    this.onChange = onChange;
    return () => (this.onChange = () => undefined);
  }

  load(): Promise<readonly Project[] | null> {
    this.loads += 1;
    return Promise.resolve(this.current === null ? null : [{ name: "tools", program: this.current }]);
  }

  /** `null`: a save that does not compile. */
  save(program: Program | null): void {
    this.current = program;
    this.onChange();
  }
}

/** The fixture as its nth edit. */
function edit(n: number, extraTool = false): Program {
  const program = fixtureProgram();
  const tools = extraTool ? [...program.tools, { name: `extra_${n}`, title: "extra", description: "extra", inputSchema: {} }] : program.tools;
  return { ...program, tools, catalog: { ...program.catalog, hash: `sha256:${n}` } };
}

interface Session {
  readonly source: Edited;
  readonly live: ReloadableCatalogs;
  readonly notes: string[];
  readonly open: () => number;
  /** Reloads that come next cannot be prepared. */
  refuse(): void;
  send(message: unknown): void;
  next(): Promise<ReturnType<typeof JSON.parse>>;
  settled(): Promise<void>;
}

async function withSession(body: (session: Session) => Promise<void>): Promise<void> {
  const source = new Edited(edit(0));
  const notes: string[] = [];
  let open = 0;
  let refuses = false;
  const counted = (engine: Engine): Engine => {
    open += 1;
    return { ...engine, close: async () => void (open -= 1) };
  };
  const log = createLog({ format: "text", level: "silent", write: () => undefined });
  const live = new ReloadableCatalogs([{ name: "tools", program: edit(0) }], {
    source,
    routing: routingOf([{ name: "tools", program: edit(0) }], null),
    principal: OWNER,
    start: ({ program }) => createMcpServer({ engine: counted(createEngine(program, { env: new Map(), metaTools: true })), info: { name: "n", title: "t", version: "1" }, log }),
    prepare: async () => {
      if (refuses) throw new Error("no records can be written");
    },
    toolsChanged: () => server.notify(notificationText("notifications/tools/list_changed")),
    note: (text) => void notes.push(text),
    explain: (error) => (error instanceof Error ? error.message : null),
  });
  const [input, output] = [new PassThrough(), new PassThrough()];
  const server = serveStdio(() => live.mcp, { input, output }, () => undefined);
  const lines: string[] = [];
  let wake: () => void = () => undefined;
  let rest = "";
  output.on("data", (chunk) => {
    const parts = (rest + String(chunk)).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts);
    wake();
  });
  const settled = async (): Promise<void> => {
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
  };
  try {
    await body({
      source, live, notes, settled,
      open: () => open,
      refuse: () => void (refuses = true),
      send: (message) => void input.write(`${JSON.stringify(message)}\n`),
      async next() {
        while (lines.length === 0) await new Promise<void>((resolve) => (wake = resolve));
        return JSON.parse(lines.shift() ?? "");
      },
    });
  } finally {
    await live.close();
  }
}

const initialize = { jsonrpc: "2.0", id: 0, method: "initialize", params: { protocolVersion: "2025-11-25" } };
const call = (id: number, name: string, args: unknown): unknown => ({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } });

test("an edit that changes the tools is served at once and announced with tools/list_changed", async () => {
  await withSession(async ({ source, send, next, notes }) => {
    send(initialize);
    await next();
    source.save(edit(1, true));
    assert.equal((await next()).method, "notifications/tools/list_changed");
    send({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    assert.ok((await next()).result.tools.some((tool: { name: string }) => tool.name === "extra_1"));
    assert.deepEqual(notes, ["reloaded tools.yaml — 8 tools\n"]);
  });
});

test("nothing is announced before initialize, for an edit without effect, or when the tools stay as they are", async () => {
  await withSession(async ({ source, send, next, settled, notes }) => {
    source.save(edit(1, true));
    await settled();
    send(initialize);
    assert.equal((await next()).id, 0);
    source.save(edit(1, true));
    await settled();
    source.save({ ...edit(2, true), tools: edit(1, true).tools });
    await settled();
    send({ jsonrpc: "2.0", id: 1, method: "ping" });
    assert.equal((await next()).id, 1);
    assert.equal(notes.length, 2);
  });
});

test("a broken edit keeps the last good catalog and says so", async () => {
  await withSession(async ({ source, send, next, settled, notes }) => {
    send(initialize);
    await next();
    source.save(null);
    await settled();
    source.save({ ...edit(3), abi: 99 });
    await settled();
    send(call(1, "echo", { text: "still here" }));
    assert.equal((await next()).result.structuredContent.rows[0].text, "still here");
    assert.equal(notes[0], "tools.yaml has errors; still serving the last good one\n");
    assert.match(notes[1] ?? "", /cannot be served: .*ABI 99.*; still serving the last good one/);
  });
});

test("a call that runs finishes on the catalog it began with, which is closed when it has ended", async () => {
  await withSession(async ({ source, send, next, settled, open }) => {
    send(initialize);
    await next();
    send(call(1, "wait", { ms: 100 }));
    await settled();
    source.save(edit(1));
    await settled();
    assert.equal(open(), 2);
    assert.deepEqual((await next()).result.structuredContent.rows, [{ _id: 1, waited: 100 }]);
    await settled();
    assert.equal(open(), 1);
  });
});

test("of several catalogs the changed one is reloaded, all of them or none", async () => {
  let current: readonly Project[] | null = [{ name: "a", program: edit(0) }, { name: "b", program: edit(100) }];
  let save: () => void = () => undefined;
  let changes = 0;
  const notes: string[] = [];
  const source: ProgramSource = { name: "a.yaml, b.yaml", watch: (onChange) => ((save = onChange), () => undefined), load: () => Promise.resolve(current) };
  const log = createLog({ format: "text", level: "silent", write: () => undefined });
  const routing = routingOf(current, "b");
  const live = new ReloadableCatalogs(current, {
    source, routing, principal: OWNER,
    start: ({ program }) => createMcpServer({ engine: createEngine(program, { env: new Map(), metaTools: true }), info: { name: "n", title: "t", version: "1" }, log }),
    prepare: async () => undefined,
    toolsChanged: () => void (changes += 1),
    note: (text) => void notes.push(text),
    explain: (error) => (error instanceof Error ? error.message : null),
  });
  const saved = async (projects: readonly Project[] | null): Promise<string> => {
    current = projects;
    save();
    for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
    return live.mcp.engine.program.catalog.hash;
  };
  const b = live.mcp;
  assert.equal(b.engine.program.catalog.hash, "sha256:100");
  assert.equal(await saved([{ name: "a", program: edit(1, true) }, { name: "b", program: edit(100) }]), "sha256:100");
  assert.deepEqual([live.mcp === b, changes, notes.length], [true, 0, 1]);
  assert.equal(await saved([{ name: "a", program: edit(1, true) }, { name: "b", program: edit(101, true) }]), "sha256:101");
  assert.deepEqual([changes, notes.length], [1, 2]);
  assert.equal(await saved(null), "sha256:101");
  assert.equal(await saved([{ name: "a", program: edit(2) }, { name: "b", program: { ...edit(102), abi: 99 } }]), "sha256:101");
  assert.deepEqual([changes, notes.filter((note) => note.includes("still serving")).length], [1, 2]);
  assert.match(notes[2] ?? "", /^a\.yaml, b\.yaml have errors/);
  await live.close();
});

test("what was begun for a reload that is refused is closed, and the old catalog is served", async () => {
  await withSession(async ({ source, live, notes, settled, open, refuse }) => {
    refuse();
    source.save(edit(1));
    await settled();
    assert.equal(live.mcp.engine.program.catalog.hash, "sha256:0");
    assert.match(notes.join(""), /cannot be served: no records can be written; still serving the last good one/);
    assert.equal(open(), 1);
  });
});

test("a change of roles that changes what the client may see is announced, though the tools are the same", async () => {
  const roles = (allow: readonly string[]): Program["settings"] => ({ security: { rbac: { default_role: "viewer", role_claim: "roles", roles: { viewer: { allow } }, deny_tools: [] } } });
  await withSession(async ({ source, send, next }) => {
    send(initialize);
    await next();
    source.save({ ...edit(1), settings: roles(["echo"]) });
    assert.equal((await next()).method, "notifications/tools/list_changed");
    source.save({ ...edit(2), settings: roles(["echo", "wait"]) });
    assert.equal((await next()).method, "notifications/tools/list_changed");
  });
});

test("200 edits in a row, half of them broken, with calls in flight: every call is answered and nothing stays open", async () => {
  await withSession(async ({ source, send, next, settled, open }) => {
    send(initialize);
    await next();
    const answered = new Set<number>();
    for (let n = 1; n <= 200; n++) {
      send(call(n, "wait", { ms: n % 7 }));
      source.save(n % 2 === 0 ? null : edit(n, n % 4 === 1));
      if (n % 10 === 0) await settled();
    }
    while (answered.size < 200) {
      const message = await next();
      if (message.method !== undefined) continue;
      assert.equal(message.result?.isError, false, JSON.stringify(message));
      answered.add(message.id);
    }
    await settled();
    assert.equal(open(), 1);
    assert.ok(source.loads > 10);
  });
});

test.run();
