/** The example specs/examples/document-access: its data through its own load command, and every scenario of it. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "yaml";
import { run } from "../../generator/cli/main.js";
import { connect, type Connection } from "../../generator/connect.js";
import { isToolError } from "../../runtime/abi/errors.js";
import { memoryIo } from "../lib/io.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";

const test = suite("e2e/document access example");
const HOME = "specs/examples/document-access";
const folder = mkdtempSync(join(tmpdir(), "toolsrv-access-example-"));

interface Scenario {
  readonly name: string;
  readonly call: { readonly tool: string; readonly arguments: { readonly [arg: string]: unknown }; readonly context: { readonly claims: { readonly [claim: string]: unknown } } };
  readonly expect: { readonly ids?: readonly string[]; readonly count?: number; readonly error?: string; readonly forbidden?: readonly string[] };
}

const { scenarios } = parse(readFileSync(repo(HOME, "scenarios.yaml"), "utf8")) as { readonly scenarios: readonly Scenario[] };
let connection: Connection;

test.before(async () => {
  const envFile = join(folder, ".env");
  writeFileSync(envFile, `DOCUMENTS_DB=${join(folder, "documents.db")}\n`);
  const io = memoryIo({ cwd: repo() });
  // The command of the README, with a database of the test's own.
  const words = /toolsrv (load [^`]*?documents\.jsonl)/.exec(readFileSync(repo(HOME, "README.md"), "utf8"))?.[1]?.replaceAll("\\\n", " ").split(/\s+/) ?? [];
  assert.equal(await run([...words, "--env-file", envFile], io), 0, io.err());
  connection = await connect(repo(HOME, "tools.yaml"), { envFile });
});

test.after(async () => {
  await connection.close();
  rmSync(folder, { recursive: true });
});

test("there are scenarios of every tool", () => {
  assert.deepEqual([...new Set(scenarios.map(({ call }) => call.tool))].sort(), connection.tools().map(({ name }) => name).sort());
});

for (const { name, call: { tool, arguments: args, context }, expect } of scenarios) {
  test(`${tool}: ${name}`, async () => {
    try {
      const answer = await connection.call(tool, args, { claims: context.claims });
      assert.equal(expect.error, undefined, "not refused");
      if (expect.ids !== undefined) assert.deepEqual(answer.rows.map(({ _id }) => _id).sort(), [...expect.ids].sort());
      if (expect.count !== undefined) assert.equal(answer.count, expect.count);
      for (const text of expect.forbidden ?? []) assert.ok(!JSON.stringify(answer).includes(text), text);
    } catch (error) {
      if (!isToolError(error)) throw error;
      assert.equal(error.code, expect.error);
    }
  });
}

test.run();
