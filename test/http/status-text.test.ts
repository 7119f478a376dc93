/** Status lines of our answers. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { STATUS_CODES } from "node:http";
import { join } from "node:path";
import { statusLine } from "../../runtime/transport/status-text.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";

const test = suite("status text");

test("a status line says what Node's says, for every status that has a phrase", () => {
  const statuses = Array.from({ length: 500 }, (_, index) => index + 100).filter((status) => !statusLine(status).endsWith(" Unknown"));
  assert.ok(statuses.length > 30);
  for (const status of statuses) assert.equal(statusLine(status), `${status} ${STATUS_CODES[status]}`);
  assert.equal(statusLine(299), "299 Unknown");
});

test("every status that the code names has a phrase", () => {
  const files = readdirSync(repo("runtime"), { recursive: true, encoding: "utf8" }).filter((path) => path.endsWith(".ts") && !path.startsWith("trace-ui"));
  const named = new Set(files.flatMap((path) => Array.from(readFileSync(join(repo("runtime"), path), "utf8").matchAll(/\bstatus: ([2-5]\d\d)\b/g), ([, status]) => Number(status))));
  assert.ok(named.has(503));
  for (const status of named) assert.equal(statusLine(status), `${status} ${STATUS_CODES[status]}`);
});

test.run();
