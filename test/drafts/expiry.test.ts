/** A pending draft expires after 30 days: at the start of a server, by its clock, or when a command reads the drafts. */
import assert from "node:assert/strict";
import { EXIT } from "../../generator/cli/exit.js";
import { withRecord } from "../../generator/drafts/drafts-file.js";
import { EXPIRES_AFTER_MS, type DraftRecord } from "../../generator/drafts/record.js";
import { nodeHost, type Host } from "../../generator/host.js";
import { keepExpiring, LOOK_EVERY_MS } from "../../generator/serve/expiry.js";
import { memoryIo } from "../lib/io.js";
import { suite } from "../lib/suite.js";
import { CATALOG, DRAFTS_FILE, draftIn, inProject, proposal, type Project } from "./catalog.js";

const test = suite("drafts that expire");
const NAME = "movies_by_genre";

/** A host whose clock is some milliseconds ahead of the draft's thirtieth day. */
const lateBy = (ms: number): Host => ({ ...nodeHost(), now: () => Date.now() + EXPIRES_AFTER_MS + ms });
const statusIn = (project: Project): string => draftIn(project).status;

/** A draft of today in a project whose clock is late. */
async function withOld(use: (project: Project) => Promise<void>, host = lateBy(1)): Promise<void> {
  await inProject(async (today) => {
    await today.define();
    const drafts = today.read(DRAFTS_FILE);
    await inProject(async (project) => {
      project.write(DRAFTS_FILE, drafts);
      await use(project);
    }, { host });
  });
}

test("drafts list shows an old draft as expired and marks it", () =>
  withOld(async (project) => {
    const { code, out } = await project.toolsrv("drafts", "list");
    assert.deepEqual([code, out.slice(0, 26)], [EXIT.OK, `expired    ${NAME}`]);
    assert.equal(statusIn(project), "expired");
  }));

test("drafts list shows an old draft as expired where nothing may be written, and says so", () => {
  const refused = (): Promise<never> => Promise.reject(Object.assign(new Error("EROFS: read-only file system, open 'x'"), { code: "EROFS", syscall: "open", path: "x" }));
  return withOld(async (project) => {
    const { code, out, err } = await project.toolsrv("drafts", "list");
    assert.deepEqual([code, out.slice(0, 7), statusIn(project)], [EXIT.OK, "expired", "pending"]);
    assert.match(err, /expired drafts were not marked: /);
  }, { ...lateBy(1), lock: refused, replace: refused });
});

test("an old draft is not approved: it is marked as expired, and the catalog stays as it is", () =>
  withOld(async (project) => {
    const { code, err } = await project.toolsrv("approve", NAME);
    assert.equal(code, EXIT.USAGE);
    assert.match(err, /the draft 'movies_by_genre' is expired, not pending/);
    assert.deepEqual([statusIn(project), project.read("tools.yaml")], ["expired", CATALOG]);
  }));

test("--dry-run refuses an old draft and writes nothing", () =>
  withOld(async (project) => {
    const before = project.read(DRAFTS_FILE);
    const { code, err } = await project.toolsrv("approve", NAME, "--dry-run");
    assert.equal(code, EXIT.USAGE);
    assert.match(err, /is expired, not pending/);
    assert.equal(project.read(DRAFTS_FILE), before);
  }));

test("an old draft is not rejected: it is expired already", () =>
  withOld(async (project) => {
    const { code, err } = await project.toolsrv("drafts", "reject", NAME);
    assert.equal(code, EXIT.USAGE);
    assert.match(err, /is expired, not pending/);
    assert.equal(statusIn(project), "expired");
  }));

test("a draft that is a minute younger than 30 days is approved", () =>
  withOld(async (project) => {
    const { code, err } = await project.toolsrv("approve", NAME);
    assert.equal(code, EXIT.OK, err);
    assert.equal(statusIn(project), "approved");
  }, lateBy(-60_000)));

test("define_tool lets old drafts expire, so that they fill no place and take no name", () =>
  withOld(async (project) => {
    assert.equal((await project.define(proposal())).count, 0);
    assert.deepEqual((await project.toolsrv("drafts", "list")).out.split("\n").map((line) => line.slice(0, 10).trim()), ["expired", "pending", ""]);
  }));

test("a server that runs on looks each hour, lets old drafts expire once, and stops looking when it ends", () =>
  withOld(async (project) => {
    const io = memoryIo({ cwd: project.folder, host: lateBy(1) });
    const looks: { readonly callback: () => void; readonly everyMs: number }[] = [];
    let stopped = 0;
    const stop = keepExpiring(io, (callback, everyMs) => {
      looks.push({ callback, everyMs });
      return () => void (stopped += 1);
    });
    assert.deepEqual(looks.map(({ everyMs }) => everyMs), [LOOK_EVERY_MS]);
    assert.equal(statusIn(project), "pending", "nothing before the first hour");
    looks[0]?.callback();
    while (statusIn(project) !== "expired" || io.err() === "") await new Promise((resolve) => setImmediate(resolve));
    assert.equal(io.err(), "1 draft expired after 30 days\n");
    stop();
    assert.equal(stopped, 1);
  }));

test("a drafts file that cannot be read is reported once by a server that runs on", () =>
  inProject(async (project) => {
    project.write(DRAFTS_FILE, "drafts: {}\n");
    const io = memoryIo({ cwd: project.folder });
    let look = (): void => undefined;
    keepExpiring(io, (callback) => {
      look = callback;
      return () => undefined;
    });
    look();
    while (io.err() === "") await new Promise((resolve) => setImmediate(resolve));
    const said = io.err();
    assert.match(said, /drafts: .*'drafts' is not a list/);
    let reads = 0;
    const counted: Host = { ...nodeHost(), read: (path) => nodeHost().read(path).finally(() => void (reads += 1)) };
    const again = memoryIo({ cwd: project.folder, host: counted });
    keepExpiring(again, (callback) => {
      look = callback;
      return () => undefined;
    });
    look();
    look();
    while (reads < 2) await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(again.err(), said);
  }));

test("a draft without a date never expires", () =>
  inProject(async (project) => {
    const record: DraftRecord = { status: "pending", created_at: null, hash: null, provenance: null, tool: { name: "old_one" }, issues: [], catalog_version: null };
    project.write(DRAFTS_FILE, withRecord(null, record));
    assert.match((await project.toolsrv("drafts", "list")).out, /^pending {4}old_one/);
  }, { host: lateBy(10 * EXPIRES_AFTER_MS) }));

test.run();
