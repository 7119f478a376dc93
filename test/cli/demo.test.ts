/** What `make demo` prints: a table that fits, and words that can be pasted. The demo itself is run by CI. */
import assert from "node:assert/strict";
import { connectHosts } from "../../bench/demo/hosts.js";
import { formatTable } from "../../bench/demo/table.js";
import { suite } from "../lib/suite.js";

const test = suite("demo");

const COLUMNS = [{ key: "title", title: "title" }, { key: "day", title: "day" }, { key: "n", title: "votes", right: true }] as const;

test("a table has a head, a rule and the rows, numbers on the right", () => {
  const rows = [{ title: "Alien", day: "1979-05-25T00:00:00Z", n: 7 }, { title: null, day: "2001-01-01T10:00:00Z", n: 180_083 }];
  assert.deepEqual(formatTable(COLUMNS, rows, 80), [
    "title  day                    votes",
    "─────  ────────────────────  ──────",
    "Alien  1979-05-25                 7",
    "       2001-01-01T10:00:00Z  180083",
  ]);
});

test("a table too wide gives up width where it has most", () => {
  const rows = [{ title: "A title that goes on and on until it does not fit any more", day: "1979-05-25", n: 0.123456 }];
  const lines = formatTable(COLUMNS, rows, 40);
  for (const line of lines) assert.ok([...line].length <= 40, line);
  assert.equal(lines[2], "A title that goes on…  1979-05-25  0.123");
});

test("each host gets a block with real paths, valid where it is JSON", () => {
  const text = connectHosts({ url: "http://127.0.0.1:8080/mcp", node: "/opt/node 20/bin/node", server: '/work "x"/out/server.js' });
  for (const host of ["Claude Desktop", "Claude Code", "Cursor", "VS Code"]) assert.ok(text.includes(host), host);
  const blocks = [...text.matchAll(/^ {2}\{\n.*?^ {2}\}$/gms)].map(([block]) => JSON.parse(block));
  assert.deepEqual(blocks, [
    { mcpServers: { movies: { command: "/opt/node 20/bin/node", args: ['/work "x"/out/server.js'] } } },
    { mcpServers: { movies: { url: "http://127.0.0.1:8080/mcp" } } },
    { servers: { movies: { type: "http", url: "http://127.0.0.1:8080/mcp" } } },
  ]);
  assert.ok(text.includes(`claude mcp add movies -- '/opt/node 20/bin/node' '/work "x"/out/server.js'`));
});

test.run();
