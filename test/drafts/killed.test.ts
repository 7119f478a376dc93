/** kill -9 at every change of the disk that approve makes: each file is the old one or the new one, and running it again completes it. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { EXIT } from "../../generator/cli/exit.js";
import { readDrafts } from "../../generator/drafts/drafts-file.js";
import { suite } from "../lib/suite.js";
import { CATALOG, DRAFTS_FILE, inProject, type Project } from "./catalog.js";

const test = suite("a killed approve");
const NAME = "movies_by_genre";
const here = fileURLToPath(import.meta.url);
const child = here.replace(`killed.test${extname(here)}`, `killed-approve${extname(here)}`);

function approveKilled({ folder }: Project, step: number, when: string): { readonly status: number | null; readonly signal: string | null; readonly changes: number; readonly err: string } {
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [...process.execArgv, child, folder, NAME, String(step), when], { encoding: "utf8", timeout: 60_000 });
  return { status, signal, changes: Number(stdout), err: stderr };
}

/** The files as a whole approval leaves them; the time of the approval aside. */
async function approved(): Promise<{ readonly tools: string; readonly steps: number }> {
  let result = { tools: "", steps: 0 };
  await inProject(async (project) => {
    await project.define();
    const { status, changes, err } = approveKilled(project, 0, "before");
    assert.equal(status, EXIT.OK, err);
    result = { tools: project.read("tools.yaml"), steps: changes };
  });
  return result;
}

test("the catalog is old or new at every moment, and the next approve finishes the work", async () => {
  const { tools, steps } = await approved();
  assert.ok(steps >= 10, `only ${steps} changes are seen`);
  for (let step = 1; step <= steps; step += 1) {
    for (const when of ["middle", "after"]) {
      await inProject(async (project) => {
        const at = `step ${step}, ${when}`;
        await project.define();
        const pending = project.read(DRAFTS_FILE);
        const { signal, err } = approveKilled(project, step, when);
        assert.equal(signal, "SIGKILL", `${at}: ${err}`);
        const left = project.read("tools.yaml");
        assert.ok(left === CATALOG || left === tools, `${at}: the catalog is neither old nor new:\n${left}`);
        const drafts = project.read(DRAFTS_FILE);
        const [record] = readDrafts(drafts, DRAFTS_FILE).records;
        assert.ok(drafts === pending || record?.status === "approved", `${at}: the draft is neither pending nor approved`);
        assert.ok(record?.status === "pending" || left === tools, `${at}: the draft is approved and the catalog is old`);
        const again = await project.toolsrv("approve", NAME);
        const isDone = record?.status === "approved";
        assert.equal(again.code, isDone ? EXIT.USAGE : EXIT.OK, `${at}: ${again.err}`);
        assert.equal(project.read("tools.yaml"), tools, at);
        const [after] = readDrafts(project.read(DRAFTS_FILE), DRAFTS_FILE).records;
        assert.deepEqual([after?.status, after?.catalog_version], ["approved", "1"], at);
      });
    }
  }
}, { timeoutMs: 180_000 });

test.run();
