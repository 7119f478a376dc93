/** Who had the machine during a piece of work, as Linux tells it. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { withUsage } from "../../bench/lib/usage.js";
import { suite } from "../lib/suite.js";

const test = suite("usage");
const SPIN = `
  const used = () => Object.values(process.cpuUsage()).reduce((sum, part) => sum + part);
  process.stdin.once("data", () => {
    const until = used() + 3e5;
    while (used() < until);
    process.stdout.write("done");
  });
  process.stdout.write("ready");`;

/** A process that uses 300 ms of a core when it is told to. */
async function spinner() {
  const child = spawn(process.execPath, ["-e", SPIN], { stdio: ["pipe", "pipe", "inherit"] });
  const said = (): Promise<unknown> => new Promise((resolve) => child.stdout.once("data", resolve));
  await said();
  return { pid: child.pid ?? 0, spin: () => (child.stdin.write("x"), said()), stop: () => void child.kill() };
}

if (existsSync("/proc/self/schedstat")) {
  test("the time of the server is kept apart from that of others", async () => {
    const [server, other] = [await spinner(), await spinner()];
    try {
      const alone = await withUsage(server.pid, server.spin);
      assert.ok(alone.usage.ranNs >= 200e6, JSON.stringify(alone));
      const beside = await withUsage(server.pid, other.spin);
      assert.ok(beside.usage.ranNs < 100e6 && beside.usage.othersNs >= 200e6, JSON.stringify(beside));
    } finally {
      server.stop();
      other.stop();
    }
  });
} else {
  test.skip("the time of the server is kept apart from that of others", "this system has no schedstat");
}

test.run();
