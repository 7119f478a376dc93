/** Access evidence: what `toolsrv audit verify` finds in a chain, and that it finds nothing in a whole one. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../../generator/cli/main.js";
import { canonicalJson } from "../../../runtime/abi/fingerprint.js";
import { GENESIS, idDigest, link, type ChainState } from "../../../runtime/observe/audit/chain.js";
import { memoryIo } from "../../lib/io.js";
import { suite } from "../../lib/suite.js";
import { caller, nobody } from "../../call/program.js";
import { audited, ended, eventOf, linesOf, PLANS, temporary } from "./world.js";

const test = suite("observe/audit/chain");
const folder = temporary(test);
const CERTIFICATES = Object.fromEntries(Object.keys(PLANS).map((tool) => [tool, `sha256:certificate of ${tool}`]));
const CHAINED = { sink: "file", path: "chained.jsonl", chain: true };

/** 10,000 records in one file, as lines. */
function chainOf(count: number, start: ChainState = { head: null, salt: "a".repeat(64) }): { readonly lines: readonly string[]; readonly state: ChainState } {
  const { text, state } = link(start, [{ event: "open", torn_bytes: 0 }], Array.from({ length: count - 1 }, (_, n) => eventOf(n, { rowIds: [n] })), 0);
  return { lines: text.trimEnd().split("\n"), state };
}
const WHOLE = chainOf(10_000);
const HEAD = WHOLE.state.head?.hash ?? "";

/** `toolsrv audit verify` of files with these lines. */
async function verify(files: readonly (readonly string[])[], ...words: readonly string[]) {
  const names = files.map((lines, index) => {
    writeFileSync(join(folder, `verify-${index}.jsonl`), lines.map((line) => `${line}\n`).join(""));
    return `verify-${index}.jsonl`;
  });
  const io = memoryIo({ cwd: folder });
  const code = await run(["audit", "verify", ...names, ...words], io);
  return { code, out: io.out(), err: io.err() };
}

const at = (index: number): string => WHOLE.lines[index] as string;
const without = (index: number): readonly string[] => WHOLE.lines.filter((_, n) => n !== index);
const replaced = (index: number, line: string): readonly string[] => WHOLE.lines.map((old, n) => (n === index ? line : old));

test("a chain of 10,000 records is whole", async () => {
  const { code, out } = await verify([WHOLE.lines]);
  assert.equal(code, 0, out);
  assert.equal(out, `ok: 10000 records, 9999 of them calls\nlast record: 9999, hash ${HEAD}\n`);
});

test("one record removed is found, with its line", async () => {
  const { code, out } = await verify([without(5000)]);
  assert.equal(code, 1);
  assert.match(out, /^verify-0\.jsonl:5001: this line is record 5001, though record 5000 was expected: records are missing or were moved\nbroken: 9999 records/);
});

test("one byte changed is found, wherever in the line it is", async () => {
  const line = at(7000);
  for (const position of [2, 60, line.indexOf('"rows"') + 10, line.indexOf('"prev"') + 20, line.length - 5, line.length - 1]) {
    const changed = `${line.slice(0, position)}${line[position] === "0" ? "1" : "0"}${line.slice(position + 1)}`;
    const { code, out } = await verify([replaced(7000, changed)]);
    assert.equal(code, 1, String(position));
    assert.match(out, /^verify-0\.jsonl:700[12]: this line /, String(position));
  }
});

test("a record that was written anew with its own hash is found by the record after it", async () => {
  const body = at(3000).slice(0, at(3000).indexOf(',"hash":')).replace('"tool":"find"', '"tool":"f1nd"');
  const forged = `${body},"hash":"${createHash("sha256").update(body).digest("hex")}"}`;
  assert.notEqual(forged, at(3000));
  const { code, out } = await verify([replaced(3000, forged)]);
  assert.equal(code, 1);
  assert.match(out, /^verify-0\.jsonl:3002: this line does not follow record 3000 as it is in the file: that one was replaced\n/);
});

test("two records swapped are found", async () => {
  const { code, out } = await verify([replaced(200, at(201)).map((line, n) => (n === 201 ? at(200) : line))]);
  assert.equal(code, 1);
  assert.match(out, /^verify-0\.jsonl:201: this line is record 201, though record 200 was expected/);
  assert.match(out, /verify-0\.jsonl:202: this line is record 200, though record 202 was expected: it was moved or repeated/);
});

test("a record that is there twice, a foreign line and an empty one are found", async () => {
  for (const line of [at(99), '{"audit_version":"1","tool":"find"}', "", "not JSON"]) {
    const { code, out } = await verify([[...WHOLE.lines.slice(0, 100), line, ...WHOLE.lines.slice(100)]]);
    assert.equal(code, 1, line);
    assert.match(out, /^verify-0\.jsonl:101: /, line);
  }
});

test("a beginning that was cut is found: a file begins with the record of its opening", async () => {
  for (const [from, events] of [[1, "first"], [10, "tenth"], [9_999, "all but one"]] as const) {
    const { code, out } = await verify([WHOLE.lines.slice(from)]);
    assert.equal(code, 1, events);
    assert.ok(out.startsWith(`verify-0.jsonl:1: this line is record ${from}, and a file begins with a record of event open: those before it are missing\nbroken: ${10_000 - from} records`), out);
  }
});

test("a tail that was cut is found with --head, and a chain that has grown since is whole", async () => {
  assert.equal((await verify([WHOLE.lines.slice(0, 9000)])).code, 0, "without an anchor nothing shows it");
  const cut = await verify([WHOLE.lines.slice(0, 9000)], "--head", HEAD);
  assert.equal(cut.code, 1);
  assert.match(cut.out, /no record has the hash [0-9a-f]{64}: the end of the chain was cut off/);
  for (const head of [HEAD, `sha256:${HEAD}`, HEAD.toUpperCase()]) assert.equal((await verify([WHOLE.lines], "--head", head)).code, 0);
  const grown = link(WHOLE.state, [], [eventOf(1)], 0).text.trimEnd();
  assert.equal((await verify([[...WHOLE.lines, grown]], "--head", HEAD)).code, 0);
});

test("a line that has no end, an empty file and no file each have their own message", async () => {
  writeFileSync(join(folder, "torn.jsonl"), `${at(0)}\n${at(1)}`);
  const io = memoryIo({ cwd: folder });
  assert.equal(await run(["audit", "verify", "torn.jsonl"], io), 1);
  assert.match(io.out(), /^torn\.jsonl:2: this line is cut off/);
  assert.match((await verify([[]])).out, /there is no record\nbroken/);
  const missing = memoryIo({ cwd: folder });
  assert.equal(await run(["audit", "verify", "nowhere.jsonl"], missing), 2);
  assert.match(missing.err(), /nowhere\.jsonl/);
});

test("usage errors exit 2: no file, another command, a head that is no hash", async () => {
  for (const words of [["verify"], ["check", "x"], ["verify", "torn.jsonl", "--head", "abc"]]) {
    const io = memoryIo({ cwd: folder });
    assert.equal(await run(["audit", ...words], io), 2, words.join(" "));
  }
});

test("rotated files are one chain in their order; a file that is missing or comes too early is found", async () => {
  const second = chainOf(50, WHOLE.state);
  const third = chainOf(50, second.state);
  const whole = await verify([WHOLE.lines, second.lines, third.lines], "--json");
  assert.equal(whole.code, 0);
  const { ok, records, calls, first, head } = JSON.parse(whole.out);
  assert.deepEqual([ok, records, calls, first, head.seq], [true, 10_100, 10_097, 0, 10_099]);
  assert.match((await verify([WHOLE.lines, third.lines])).out, /^verify-1\.jsonl:1: this line is record 10050, though record 10000 was expected/);
  assert.equal((await verify([second.lines, WHOLE.lines])).code, 1);
  const later = await verify([second.lines]);
  assert.equal(later.code, 0);
  assert.match(later.out, /begins at record 10000: the files before it were not given/);
  assert.match((await verify([WHOLE.lines, chainOf(5).lines])).out, /^verify-1\.jsonl:1: this line begins another chain/);
});

test("a record of a chain says who called, which catalog, guard and query it was, and digests of the rows that left", async () => {
  const { engine, ended: over } = audited({ audit: CHAINED, certificates: CERTIFICATES, base: folder });
  await engine.call("list", { limit: 9 }, caller({ id: "ada" }));
  await engine.call("list", { limit: 9 }, caller({ id: "eve" }));
  await ended(engine, "owned", {}, nobody);
  await over();
  const [open, first, second, refused] = linesOf(readFileSync(join(folder, "chained.jsonl"), "utf8"));
  assert.deepEqual(Object.keys(open ?? {}), ["audit_version", "timestamp", "event", "salt", "seq", "prev", "hash"]);
  assert.equal(open?.["prev"], GENESIS);
  assert.deepEqual(Object.keys(first ?? {}).slice(15), ["catalog", "certificate", "queries", "rows", "seq", "prev", "hash"]);
  assert.deepEqual([first?.["principal"], first?.["catalog"], first?.["certificate"], first?.["seq"]], ["ada", `sha256:${"0".repeat(64)}`, "sha256:certificate of list", 1]);
  assert.equal(first?.["prev"], open?.["hash"]);
  assert.deepEqual(first?.["rows"], ["row-one", 2].map((id) => idDigest(String(open?.["salt"]), id)));
  const native = { fetch: { collection: "things", filter: PLANS["list"] !== undefined && "guard" in PLANS["list"] ? { ...PLANS["list"].guard, fixed: true } : null, limit: 5, offset: 0, fields: null } };
  assert.deepEqual(first?.["queries"], [{ connection: "main", operation: "fetch", digest: `sha256:${createHash("sha256").update(canonicalJson(native)).digest("hex")}` }], "the digest is that of the native query, its guard included");
  assert.deepEqual(second?.["queries"], first?.["queries"]);
  assert.deepEqual([refused?.["error_code"], refused?.["queries"], refused?.["rows"]], ["auth_error", [], []]);
});

test("row ids cannot be read out of a chain, and digests of two chains cannot be compared", async () => {
  const text = readFileSync(join(folder, "chained.jsonl"), "utf8");
  assert.ok(!text.includes("row-one") && !text.includes("row-secret"));
  const bare = createHash("sha256").update('"row-one"').digest("hex").slice(0, 32);
  assert.ok(!text.includes(bare));
  assert.notEqual(idDigest("a".repeat(64), "row-one"), idDigest("b".repeat(64), "row-one"));
  assert.notEqual(idDigest("a".repeat(64), "2"), idDigest("a".repeat(64), 2), "a text and a number are two ids");
});

test("a chain needs sink file, and the certificates of a build that knows them", () => {
  assert.throws(() => audited({ audit: { sink: "http", url: "http://127.0.0.1:1", chain: true }, certificates: CERTIFICATES }), /audit: audit\.chain needs sink file, and the sink is http/);
  assert.throws(() => audited({ audit: CHAINED, flags: { sink: "otlp", path: null, url: "http://127.0.0.1:1" }, certificates: CERTIFICATES }), /needs sink file, and the sink is otlp/);
  assert.throws(() => audited({ audit: CHAINED, base: folder }), /no certificates for audit\.chain; run 'toolsrv build' again/);
  const { list: _, ...others } = CERTIFICATES;
  assert.throws(() => audited({ audit: CHAINED, base: folder, certificates: others }), /no certificates/);
});

test("calls at one time make one chain", async () => {
  const { engine, ended: over } = audited({ audit: { ...CHAINED, path: "busy.jsonl" }, certificates: CERTIFICATES, base: folder });
  await Promise.all(Array.from({ length: 3000 }, () => ended(engine, "list", {}, nobody)));
  await over();
  const io = memoryIo({ cwd: folder });
  assert.equal(await run(["audit", "verify", "busy.jsonl", "--json"], io), 0, io.out());
  assert.equal(JSON.parse(io.out()).calls, 3000);
});

test.run();
