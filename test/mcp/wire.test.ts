/**
 * The exact bytes of each protocol version and, where the catalog checks roles, of each set of roles: what a client sees
 * may change only together with a file under test/golden/wire. UPDATE=1 writes the files.
 */
import * as assert from "node:assert/strict";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { VERSIONS } from "../../runtime/mcp/versions.js";
import type { Authenticator } from "../../runtime/auth/authenticate.js";
import { NO_AUTHENTICATION } from "../../runtime/auth/none.js";
import { rawHttp, rawPost } from "../lib/raw-http.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";
import { fixtureProgram } from "./program.js";
import { BY_ROLE, CALLERS, EXCHANGES, NEWEST, PING, RBAC, record, REFUSALS, shown, withServer } from "./wire-cases.js";

const test = suite("wire");

const FOLDER = repo("test/golden/wire");

function hold(name: string, recorded: string): void {
  const file = `${FOLDER}/${name}.txt`;
  mkdirSync(FOLDER, { recursive: true });
  if (process.env["UPDATE"] === "1") writeFileSync(file, recorded);
  assert.equal(recorded, readFileSync(file, "utf8"), name);
}

test("every version answers with the recorded bytes", () =>
  withServer(fixtureProgram(), NO_AUTHENTICATION, async (port) => {
    for (const version of VERSIONS) hold(version.name, await record(port, version, EXCHANGES));
  }));

test("every version answers each set of roles with the recorded bytes", async () => {
  for (const [caller, claims] of Object.entries(CALLERS)) {
    const principal = { id: caller, claims, headers: {} };
    const authenticator: Authenticator = { headers: [], authenticate: () => principal };
    await withServer(fixtureProgram({ security: { rbac: RBAC } }), authenticator, async (port) => {
      for (const version of VERSIONS) hold(`${version.name}-${caller}`, await record(port, version, BY_ROLE));
    });
  }
});

test("what is refused in every version is refused with the recorded bytes", async () => {
  const parts: string[] = [];
  await withServer(fixtureProgram(), NO_AUTHENTICATION, async (port) => {
    for (const [name, request] of Object.entries(REFUSALS)) parts.push(shown(name, await rawHttp(port, request)));
  });
  const call = rawPost("/mcp", PING, { "mcp-protocol-version": "2025-11-25" });
  await withServer(fixtureProgram(), NO_AUTHENTICATION, async (port) => void parts.push(shown("while draining", await rawHttp(port, call))), { stopping: true });
  await withServer(fixtureProgram(), NO_AUTHENTICATION, async (port) => void parts.push(shown("a caller of no catalog", await rawHttp(port, call))), { projects: { of: () => null } });
  await withServer(fixtureProgram(), NO_AUTHENTICATION, async (port) => void parts.push(shown("a caller of no catalog, 2026-07-28", await rawHttp(port, rawPost("/mcp", NEWEST, { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" })))), { projects: { of: () => null } });
  hold("refusals", parts.join("\n"));
});

test("no record is left over", () => {
  const names = ["refusals", ...VERSIONS.flatMap(({ name }) => [name, ...Object.keys(CALLERS).map((caller) => `${name}-${caller}`)])];
  assert.deepEqual(readdirSync(FOLDER).sort(), names.map((name) => `${name}.txt`).sort());
});

test.run();
