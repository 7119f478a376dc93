/** What adapters of remote stores share: one retry, packages that may be missing, errors without secrets. */
import assert from "node:assert/strict";
import { BackendError, isBackendError } from "../../runtime/abi/errors.js";
import { attempt } from "../../runtime/adapters/attempt.js";
import { inferFields } from "../../runtime/adapters/infer.js";
import { loadPackage } from "../../runtime/adapters/package.js";
import { pgError } from "../../runtime/adapters/pgvector/errors.js";
import { suite } from "../lib/suite.js";

const test = suite("adapters/remote stores");
const signal = new AbortController().signal;
const lost = (): BackendError => new BackendError("unreachable", "pgvector", "closed the connection");

/** Attempts of a read that fails with each of these errors in turn, then answers. */
async function attempts(errors: readonly Error[], asked = signal): Promise<readonly [tries: number, outcome: unknown]> {
  let tries = 0;
  const outcome: unknown = await attempt(asked, async () => {
    const error = errors[tries++];
    if (error !== undefined) throw error;
    return "rows";
  }, () => 0).catch((error: unknown) => error);
  return [tries, outcome];
}

test("a read whose connection broke is tried once more, and only once", async () => {
  const second = lost();
  assert.deepEqual(await attempts([lost()]), [2, "rows"]);
  assert.deepEqual(await attempts([lost(), second, lost()]), [2, second]);
});

test("a read that the store refused, limited or gave up on is not repeated", async () => {
  for (const kind of ["auth", "bad_request", "not_found", "rate_limited", "timeout", "internal", "unsupported", "busy", "setup"] as const) {
    const error = new BackendError(kind, "pgvector", "no");
    assert.deepEqual(await attempts([error]), [1, error], kind);
  }
  assert.equal((await attempts([new TypeError("a bug")]))[0], 1);
});

test("a read is not repeated for a call that has ended", async () => {
  const controller = new AbortController();
  const reason = new Error("gone");
  const reading = attempt(controller.signal, async () => {
    controller.abort(reason);
    throw lost();
  });
  assert.equal(await reading.catch((error: unknown) => error), reason);
});

test("failures that may pass say so, and others don't", () => {
  const retryable = (["unreachable", "timeout", "auth", "not_found", "bad_request", "rate_limited", "busy", "internal", "unsupported", "setup"] as const).filter((kind) => new BackendError(kind, "x", "y").retryable);
  assert.deepEqual(retryable, ["unreachable", "timeout", "rate_limited", "busy"]);
});

test("a package that is missing is named with the command that installs it; one that is broken is another error", async () => {
  const missing = Object.assign(new Error("Cannot find package 'pg' imported from /secret/folder"), { code: "ERR_MODULE_NOT_FOUND" });
  const error: unknown = await loadPackage("no-such-client", "pgvector", "/nowhere", () => Promise.reject(missing)).catch((reason: unknown) => reason);
  assert.ok(isBackendError(error));
  assert.deepEqual([error.kind, error.retryable, error.message], ["setup", false, "pgvector: the package no-such-client is not installed; run: npm i no-such-client"]);
  const broken: unknown = await loadPackage("pg", "pgvector", "/nowhere", () => Promise.reject(new SyntaxError("in /secret/folder"))).catch((reason: unknown) => reason);
  assert.ok(isBackendError(broken));
  assert.match(broken.message, /^pgvector: the package pg cannot be loaded on Node \d+/);
});

test("a package beside the catalog is found where toolsrv has none", async () => {
  const missing = Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
  const asked: string[] = [];
  const found = await loadPackage("pg", "pgvector", process.cwd(), (specifier) => {
    asked.push(specifier);
    return specifier === "pg" ? Promise.reject(missing) : Promise.resolve("module");
  });
  assert.equal(found, "module");
  assert.match(asked[1] ?? "", /^file:.*node_modules\/pg\//);
});

test("errors of PostgreSQL become kinds, and keep hosts, names and values in their cause", () => {
  const of = (code: string, message = "host db.internal, password hunter2"): readonly [string, string] => {
    const error = pgError(Object.assign(new Error(message), { code }));
    assert.ok(isBackendError(error));
    assert.doesNotMatch(error.message, /internal|hunter2/);
    return [error.kind, error.message];
  };
  const kinds = { "28P01": "auth", "42501": "auth", "3D000": "not_found", "42P01": "not_found", "57014": "timeout", "53300": "rate_limited", "57P01": "unreachable", "08006": "unreachable", ECONNREFUSED: "unreachable", ENOTFOUND: "unreachable", "22P02": "bad_request", "42703": "bad_request", XX000: "internal", "": "internal" };
  for (const [code, kind] of Object.entries(kinds)) assert.equal(of(code)[0], kind, code);
  assert.equal(of("", "SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be a string")[0], "auth");
  assert.equal(of("", "timeout exceeded when trying to connect")[0], "busy");
  assert.equal(of("", "Connection terminated due to connection timeout")[0], "timeout");
  assert.equal(of("", "Connection terminated unexpectedly")[0], "unreachable");
});

test("fields of a sample have the type of nearly all their values", () => {
  const rows = Array.from({ length: 200 }, (_, n) => ({ _id: n, _score: 1, size: n === 7 ? "many" : n, at: "2024-01-01T00:00:00Z", mixed: n % 2 === 0 ? 1 : "one", deep: { a: { b: { c: 1 } } }, tags: ["a"], gone: null }));
  const fields = Object.fromEntries(inferFields(rows, (path) => path === "size").map(({ path, dtype, nullable, indexed }) => [path, [dtype, nullable, indexed]]));
  assert.deepEqual(fields, {
    at: ["datetime", false, false], deep: ["unknown", false, false], "deep.a": ["unknown", false, false], "deep.a.b": ["unknown", false, false],
    gone: ["unknown", true, false], mixed: ["unknown", false, false], size: ["integer", false, true], tags: ["keyword[]", false, false],
  });
});

test.run();
