/** What the store in PostgreSQL is without a server: its settings, its errors, rows of COPY, words. */
import assert from "node:assert/strict";
import { suite } from "../../lib/suite.js";
import { resolveSettings } from "../../../runtime/trace/settings.js";
import { CopyRows, storable, storableJson } from "../../../runtime/trace/store/postgres/copy.js";
import { loadDriver, placeOf, storeError } from "../../../runtime/trace/store/postgres/driver.js";
import { documentOf, questionOf } from "../../../runtime/trace/store/postgres/words.js";
import { searchTerms } from "../../../runtime/trace/store/search-text.js";
import { startTrace } from "../lib.js";

const test = suite("trace store postgres driver");

const settings = (given: { readonly [name: string]: unknown }) => resolveSettings({ from: (name) => name, given });
const SECRET_URL = "postgresql://writer:hunter2@127.0.0.1:1/traces";

test("the store is named by a setting, and its address is shown without its password", () => {
  const chosen = settings({ store: "postgres", store_url: SECRET_URL });
  assert.deepEqual([chosen.store, chosen.store_schema], ["postgres", "toolsrv_trace"]);
  assert.equal(placeOf({ url: SECRET_URL, schema: "s" }), "postgres 127.0.0.1:1/traces, schema s");
  assert.equal(placeOf({ url: "postgresql://u@localhost/db?host=/run/sockets", schema: "s" }), "postgres /run/sockets db, schema s");
});

test("settings that do not fit are one message, which repeats no secret", () => {
  const table: readonly (readonly [{ readonly [name: string]: unknown }, RegExp])[] = [
    [{ store: "postgres" }, /store postgres needs store_url/],
    [{ store_url: SECRET_URL }, /store_url is only for store postgres/],
    [{ store: "mysql" }, /store must be one of sqlite, postgres/],
    [{ store: "postgres", store_url: "hunter2" }, /store_url must look like postgresql:/],
    [{ store: "postgres", store_url: "mysql://u:hunter2@h/db" }, /store_url must look like postgresql:/],
    [{ store: "postgres", store_url: "postgresql://u:hunter2@h" }, /store_url must end with the name of a database/],
    [{ store: "postgres", store_url: ["hunter2"] }, /store_url must be text, not what was given/],
    [{ store: "postgres", store_url: SECRET_URL, store_schema: "a;b" }, /store_schema must be 1 to 40 small letters/],
  ];
  for (const [given, message] of table) {
    assert.throws(() => settings(given), (error: Error) => error.name === "SettingError" && message.test(error.message) && !error.message.includes("hunter2"), String(message));
  }
});

test("a missing package is named at the start, with what installs it", async () => {
  const missing = (name: string): Promise<unknown> => (name === "pg" ? import(name) : Promise.reject(Object.assign(new Error(`Cannot find package '${name}'`), { code: "ERR_MODULE_NOT_FOUND" })));
  await assert.rejects(loadDriver({ url: SECRET_URL, schema: "s" }, missing), { name: "StoreOpenError", message: "the store postgres needs the package pg-copy-streams; install it with: npm i pg pg-copy-streams" });
});

test("a database that can't be reached is one start error with the host and without the password", async () => {
  await assert.rejects(startTrace({ store: "postgres", store_url: SECRET_URL }, "unused"), (error: Error) => {
    assert.equal(error.name, "StoreOpenError");
    assert.match(error.message, /^postgres 127\.0\.0\.1:1\/traces, schema \w+ can't be reached: .*ECONNREFUSED/);
    return !error.message.includes("hunter2");
  });
});

test("errors of the connection and of shutdowns pass, a full disk is one, the rest is a failure of its batch", () => {
  const error = (code: string, message = "x"): Error => Object.assign(new Error(message), { code });
  const table: readonly (readonly [Error, string])[] = [
    [error("ECONNREFUSED"), "StoreUnavailableError"], [error("57P01"), "StoreUnavailableError"], [error("40001"), "StoreUnavailableError"], [error("28P01"), "StoreUnavailableError"],
    [new Error("Connection terminated unexpectedly"), "StoreUnavailableError"], [new Error("timeout expired"), "StoreUnavailableError"],
    [error("53100"), "StorageFullError"], [error("23505"), "Error"], [error("22021"), "Error"], [new TypeError("a bug"), "TypeError"],
  ];
  for (const [given, name] of table) assert.equal(storeError(given).name, name, given.message + String((given as Error & { code?: string }).code));
});

test("rows of COPY have the database's binary form", () => {
  const rows = new CopyRows(["bigint", "integer", "smallint", "text", "bytes"]);
  rows.add([-2, 7, 3, "é", new Uint8Array([1, 2])]);
  rows.add([2 ** 40, null, 0, null, null]);
  const head = "5047434f50590aff0d0a00" + "00000000".repeat(2);
  const first = "0005" + "00000008fffffffffffffffe" + "0000000400000007" + "000000020003" + "00000002c3a9" + "000000020102";
  const second = "0005" + "000000080000010000000000" + "ffffffff" + "000000020000" + "ffffffff".repeat(2);
  assert.equal(rows.end().toString("hex"), `${head}${first}${second}ffff`);
  const large = new CopyRows(["text"]);
  for (let index = 0; index < 2000; index++) large.add(["x".repeat(100)]);
  assert.equal(large.end().length, 19 + 2000 * (2 + 4 + 100) + 2);
});

test("what the database can't hold becomes U+FFFD", () => {
  assert.deepEqual([storable("a\0b"), storable("half \ud83d"), storable("whole 😀")], ["a\ufffdb", "half \ufffd", "whole 😀"]);
  assert.equal(storableJson([{ a: "x\0", b: "\ud800", c: "ok" }]), JSON.stringify([{ a: "x\ufffd", b: "\ufffd", c: "ok" }]));
});

test("words are cut as the embedded store's index cuts them", () => {
  assert.equal(documentOf("The naïve Fox_2 東京"), "'the':1 'naive':2 'fox':3 '2':4 '東':5 '京':6");
  const table: readonly (readonly [string, string | null])[] = [
    ["quick fox", "('quick') & ('fox')"], ['"Quick brown"', "('quick' <-> 'brown')"], ["bro*", "('bro':*)"], ["a-b*", "('a' <-> 'b':*)"], ["*", null], ["'); DROP", "('drop')"],
  ];
  for (const [q, question] of table) assert.equal(questionOf(searchTerms(q)), question, q);
});

test.run();
