/** `toolsrv serve` over a real file that is edited while it is served. */
import * as assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { run } from "../../generator/cli/main.js";
import { memoryIo } from "../lib/io.js";
import { repo } from "../lib/repo.js";
import { Lines, start, type Json, type Served } from "../lib/served.js";
import { suite } from "../lib/suite.js";
import { measuredToolsrv } from "./files.js";

const test = suite("watch");

const folder = mkdtempSync(join(tmpdir(), "toolsrv-watch-"));
test.after(() => rmSync(folder, { recursive: true }));
const file = join(folder, "tools.yaml");

function catalogWith(tool: string): string {
  return `tds_version: '2'
connections:
  main:
    backend: sqlite
    path: ./data.db
tools:
  - name: ${tool}
    kind: count
    description: Count the articles. Use when the user asks how many there are.
    target: { connection: main, collection: articles }
`;
}

test("a save is served, a broken one is refused with its place, and --no-watch sees neither", async () => {
  writeFileSync(file, catalogWith("count_before"));
  const [watched, fixed] = [start(repo("bin/toolsrv"), ["serve", file]), start(repo("bin/toolsrv"), ["serve", file, "--no-watch"])];
  try {
    const lines = { watched: new Lines(watched), fixed: new Lines(fixed) };
    await watched.sees(/watching tools\.yaml/);
    await lines.watched.initialize();
    await lines.fixed.initialize();
    const names = async (of: Lines, id: number): Promise<readonly string[]> => ((await of.ask(id, "tools/list"))["result"] as { tools: { name: string }[] }).tools.map((tool) => tool.name);

    // As editors save: another file takes the name.
    writeFileSync(`${file}.new`, catalogWith("count_after"));
    renameSync(`${file}.new`, file);
    assert.equal((await lines.watched.next())?.["method"], "notifications/tools/list_changed");
    assert.ok((await names(lines.watched, 1)).includes("count_after"));
    assert.match(watched.stderr(), /reloaded tools\.yaml — 1 tool$/m);

    writeFileSync(file, catalogWith("count_after").replace("kind: count", "kind: cuont"));
    await watched.sees(/tools\.yaml has errors; still serving the last good one/);
    assert.match(watched.stderr(), /tools\.yaml:8:\d+/);
    assert.ok((await names(lines.watched, 2)).includes("count_after"));
    assert.ok((await names(lines.fixed, 3)).includes("count_before"));
    assert.doesNotMatch(fixed.stderr(), /watching|reloaded/);
  } finally {
    await watched.kill();
    await fixed.kill();
  }
}, { timeoutMs: 20_000 });

test("a reload repeats no warning that has not changed, and prints one that is new", async () => {
  const odd = (what: string, more: string): string => `${catalogWith("count_them").replace("Count the articles", `Count the ${what}`)}    colour: red\n${more}`;
  const catalog = join(folder, "odd.yaml");
  writeFileSync(catalog, odd("articles", ""));
  const here = fileURLToPath(import.meta.url);
  const served = start(join(here, `../../e2e/toolsrv${extname(here)}`), ["serve", catalog]);
  try {
    await served.sees(/watching odd\.yaml/);
    const times = (word: string): number => served.stderr().split(word).length - 1;
    const before = times("colour");
    assert.ok(before > 0, served.stderr());
    writeFileSync(catalog, odd("texts", ""));
    await served.sees(/reloaded odd\.yaml/);
    assert.equal(times("colour"), before, "the same warning again");
    writeFileSync(catalog, odd("texts", "    shape: round\n"));
    await served.sees(/shape/);
  } finally {
    await served.kill();
  }
}, { timeoutMs: 30_000 });

// ---- many edits --------------------------------------------------------------------------------------------------

/** What the server holds after its garbage is collected. */
interface Held {
  readonly heap: number;
  readonly resources: readonly string[];
  readonly fds: number;
}

/** A server, its messages by id, and how often standard error has said something. */
class Watched {
  readonly answers = new Map<unknown, Json>();
  listChanges = 0;
  private readonly lines: Lines;
  private wake: () => void = () => undefined;

  constructor(readonly served: Served) {
    this.lines = new Lines(served);
    // After the listener that keeps the text.
    served.child.stderr.on("data", () => this.wake());
  }

  async start(): Promise<void> {
    await this.lines.initialize();
    void (async () => {
      for (let message = await this.lines.next(); message !== null; message = await this.lines.next()) {
        if (message["method"] === "notifications/tools/list_changed") this.listChanges += 1;
        else this.answers.set(message["id"], message);
        this.wake();
      }
    })();
  }

  send(id: number, method: string, params: Json = {}): void {
    this.lines.send({ jsonrpc: "2.0", id, method, params });
  }

  async until(done: () => boolean): Promise<void> {
    while (!done()) await new Promise<void>((resolve) => (this.wake = resolve));
  }

  told(what: RegExp): number {
    return [...this.served.stderr().matchAll(new RegExp(what, "gm"))].length;
  }

  /** Does something and waits until standard error has said so once more. */
  async tells(what: RegExp, act: () => void): Promise<void> {
    const times = this.told(what) + 1;
    act();
    await this.until(() => this.told(what) >= times);
  }

  async held(): Promise<Held> {
    await this.tells(/^held .*\}$/, () => void this.served.child.kill("SIGUSR2"));
    return JSON.parse(this.served.stderr().split("\n").findLast((line) => line.startsWith("held "))?.slice("held ".length) ?? "") as Held;
  }
}

test("a catalog behind links, in a folder that is replaced, or that is no file for a while, is served as it is saved", async () => {
  const home = mkdtempSync(join(tmpdir(), "toolsrv-links-"));
  const at = (...names: readonly string[]): string => join(home, ...names);
  const write = (path: string, tool: string): void => writeFileSync(path, catalogWith(tool));
  for (const folder of ["one", "two", "other"]) mkdirSync(at(folder));
  write(at("one", "tools.yaml"), "count_one");
  write(at("two", "tools.yaml"), "count_two");
  // As orchestrators mount configuration: the file is a link through a link, which is replaced.
  symlinkSync("one", at("current"));
  symlinkSync(join("current", "tools.yaml"), at("tools.yaml"));
  mkdirSync(at("plain"));
  write(at("plain", "plain.yaml"), "count_plain");
  const served = start(repo("bin/toolsrv"), ["serve", "tools.yaml", "plain/plain.yaml"], { cwd: home });
  try {
    const watched = new Watched(served);
    await served.sees(/watching tools\.yaml, plain\.yaml/);
    await watched.start();
    const reloads = (name: string, act: () => void): Promise<void> => watched.tells(new RegExp(`reloaded ${name}\\.yaml`), act);
    const refuses = (what: RegExp, act: () => void): Promise<void> => watched.tells(what, act);

    await reloads("tools", () => {
      symlinkSync("two", at("next"));
      renameSync(at("next"), at("current"));
    });
    await reloads("tools", () => write(at("two", "tools.yaml"), "count_three"));

    await reloads("plain", () => {
      write(at("other", "plain.yaml"), "count_other");
      renameSync(at("plain"), at("gone"));
      renameSync(at("other"), at("plain"));
    });
    await reloads("plain", () => write(at("plain", "plain.yaml"), "count_again"));

    const [file, away] = [at("plain", "plain.yaml"), at("plain", "away")];
    await refuses(/cannot read 'plain\/plain\.yaml': there is no such file/, () => renameSync(file, away));
    await refuses(/plain\.yaml is not a file any more/, () => mkdirSync(file));
    rmSync(file, { recursive: true });
    // A pipe that nobody writes to would hold up every later save.
    await refuses(/plain\.yaml is not a file any more/, () => void execFileSync("mkfifo", [file]));
    await reloads("plain", () => {
      rmSync(file);
      write(file, "count_last");
    });
    served.child.stdin.end();
    assert.equal(await served.ended, 0);
  } finally {
    await served.kill();
    rmSync(home, { recursive: true });
  }
}, { timeoutMs: 60_000 });

/** A save as editors make it: the file is replaced. */
function save(path: string, text: string): void {
  writeFileSync(`${path}.new`, text);
  renameSync(`${path}.new`, path);
}

test("200 edits of two catalogs, half of them broken, with calls in flight: every call is answered, and nothing more is held than before", async () => {
  const home = mkdtempSync(join(tmpdir(), "toolsrv-edits-"));
  const [a, b, drafts] = ["a.yaml", "b.yaml", "tools.drafts.yaml"].map((name) => join(home, name)) as [string, string, string];
  const io = memoryIo({ cwd: home });
  writeFileSync(a, catalogWith("count_0"));
  writeFileSync(b, catalogWith("other_0"));
  writeFileSync(join(home, "rows.jsonl"), '{"id":"1","text":"one"}\n{"id":"2","text":"two"}\n');
  assert.equal(await run(["load", "a.yaml", "rows.jsonl", "--connection", "main", "--collection", "articles", "--id", "id"], io), 0, io.err());
  const good = (name: string): string => catalogWith(name);
  const broken = (name: string): string => catalogWith(name).replace("kind: count", "kind: cuont");
  const served = start(measuredToolsrv, ["serve", a, b], { cwd: home, nodeArgs: ["--expose-gc"] });
  try {
    const watched = new Watched(served);
    await served.sees(/watching a\.yaml, b\.yaml/);
    await watched.start();
    const listed = async (id: number): Promise<string> => {
      watched.send(id, "tools/list");
      await watched.until(() => watched.answers.has(id));
      const { tools } = watched.answers.get(id)?.["result"] as { readonly tools: readonly { readonly name: string }[] };
      return tools.at(-1)?.name ?? "";
    };

    let calls = 0;
    /** Five saves in a row, two or three of them broken, with calls between them; the last one decides. */
    const round = async (n: number): Promise<void> => {
      const ends = n % 2 === 0;
      const call = (): void => watched.send((calls += 1), "tools/call", { name: "run_tool", arguments: { name: `count_${n - 1 - ((n - 1) % 2)}`, arguments: {} } });
      await watched.tells(ends ? /reloaded a\.yaml — 1 tool/ : /still serving the last good one/, () => {
        for (const [path, text] of [[a, broken("x")], [b, good(`other_${n}`)], [a, good(`between_${n}`)], [b, broken("y")]] as const) {
          call();
          save(path, text);
        }
        call();
        if (ends) save(b, good(`other_${n}`));
        save(a, ends ? good(`count_${n}`) : broken("z"));
      });
      if (ends) assert.equal(await listed(-n), `count_${n}`);
    };
    for (let n = 1; n <= 10; n++) await round(n);
    const before = await watched.held();
    const changes = watched.listChanges;
    for (let n = 11; n <= 50; n++) await round(n);
    await watched.until(() => Array.from({ length: calls }, (_, index) => index + 1).every((id) => watched.answers.has(id)));
    for (let id = 1; id <= calls; id++) {
      const result = watched.answers.get(id)?.["result"] as { readonly content?: readonly { readonly text: string }[] } | undefined;
      // The tool of the last good catalog, or, when a save was faster than the call, one that is not there any more.
      assert.match(result?.content?.[0]?.text ?? "no answer", /^\{"rows":\[\{"count":2\}\]|unknown tool/);
    }
    assert.ok(watched.listChanges >= changes + 20);
    assert.ok(watched.told(/--> .*[ab]\.yaml:8:\d+/) >= 25);

    const after = await watched.held();
    assert.deepEqual([after.resources, after.fds], [before.resources, before.fds]);
    assert.ok(after.heap < before.heap + 6_000_000, `heap ${before.heap} → ${after.heap}`);

    // Drafts are watched as well: what is broken is told once more, and nothing is served anew.
    await watched.tells(/b\.yaml have errors; still serving the last good one/, () => save(b, broken("last")));
    await watched.tells(/b\.yaml have errors; still serving the last good one/, () => save(drafts, "drafts: []\n"));
    assert.equal(await listed(-1000), "count_50");
    served.child.stdin.end();
    assert.equal(await served.ended, 0);
  } finally {
    await served.kill();
    rmSync(home, { recursive: true });
  }
}, { timeoutMs: 120_000 });

test.run();
