/** Settings of V8 that a server makes: this version of V8 has to know them. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { suite } from "../lib/suite.js";

const test = suite("serve/optimizer");

test("V8 takes the bound of what it joins into one function, and says nothing", () => {
  const file = new URL(`../../runtime/serve/optimizer${extname(import.meta.url)}`, import.meta.url).href;
  // V8 prints its settings as they are now, and ends the process.
  const script = `import { setFlagsFromString } from "node:v8"; import { inlineMore } from ${JSON.stringify(file)}; inlineMore(); setFlagsFromString("--help");`;
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-optimizer-"));
  try {
    // Into a file: V8 loses what a pipe does not take at once.
    const printed = openSync(join(folder, "printed"), "w");
    const { stderr } = spawnSync(process.execPath, [...process.execArgv, "--input-type=module", "-e", script], { stdio: ["ignore", printed, "pipe"], encoding: "utf8" });
    closeSync(printed);
    assert.match(readFileSync(join(folder, "printed"), "utf8"), /--max-inlined-bytecode-size-cumulative=2000\n/);
    assert.equal(stderr, "");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.run();
