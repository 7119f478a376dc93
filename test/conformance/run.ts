/**
 * `make conformance`: the official suites against the conformance build, each as an ordinary client over HTTP. Prints
 * what passed; ends with 1 for anything that differs from suites.yaml, and with 0 and a reason where npm cannot be had.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parse } from "yaml";
import { installed, nodeBinary } from "../lib/npm.js";
import { repo } from "../lib/repo.js";
import { startHttp } from "../lib/served.js";
import { runAuthorization } from "./authorization.js";

interface Suite {
  readonly protocol: string;
  /** Version of @modelcontextprotocol/conformance. */
  readonly suite: string;
  readonly scenarios: number;
  readonly expected: readonly { readonly reason: string; readonly checks: readonly string[] }[];
}

interface Check {
  readonly id: string;
  readonly status: "SUCCESS" | "FAILURE" | "WARNING" | "SKIPPED" | "INFO";
  readonly errorMessage?: string;
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const serverFile = fileURLToPath(new URL(`./server${extname(fileURLToPath(import.meta.url))}`, import.meta.url));
const cache = repo(".cache/conformance");

/** Checks of one run by scenario. */
function readResults(folder: string): ReadonlyMap<string, readonly Check[]> {
  return new Map(readdirSync(folder).sort().map((name) => {
    const scenario = /^server-(.+)-\d{4}-\d\d-\d\dT[\dZ-]+$/.exec(name)?.[1] ?? name;
    return [scenario, JSON.parse(readFileSync(join(folder, name, "checks.json"), "utf8")) as readonly Check[]];
  }));
}

/** One line for each difference between what happened and what suites.yaml says. */
function differences({ scenarios, expected }: Suite, results: ReadonlyMap<string, readonly Check[]>): readonly string[] {
  const wrong = new Map<string, string>();
  const seen = new Set<string>();
  for (const [scenario, checks] of results) {
    for (const { id, status, errorMessage = "" } of checks) {
      seen.add(`${scenario}:${id}`);
      if (status === "FAILURE" || status === "WARNING") wrong.set(`${scenario}:${id}`, `${status.toLowerCase()}: ${errorMessage}`);
    }
  }
  const known = new Map(expected.flatMap(({ reason, checks }) => checks.map((check) => [check, reason] as const)));
  return [
    ...(results.size === scenarios ? [] : [`${results.size} scenarios ran, not ${scenarios}`]),
    ...[...wrong].filter(([check]) => !known.has(check)).map(([check, why]) => `${check}: ${why}`),
    ...[...known.keys()].filter((check) => !wrong.has(check)).map((check) => `${check}: ${seen.has(check) ? "passes" : "does not exist"}; take it out of suites.yaml`),
    ...expected.filter(({ reason }) => reason.trim() === "").map(({ checks }) => `${checks.join(", ")}: no reason`),
  ];
}

/** Runs one suite; whether it went as expected. */
async function runSuite(suite: Suite, node: string, cli: string): Promise<boolean> {
  const { protocol } = suite;
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "results-"));
  const served = await startHttp(serverFile);
  try {
    const words = ["server", "--url", served.url, "--suite", "all", "--spec-version", protocol, "--output-dir", folder];
    const { stdout, stderr } = spawnSync(node, [cli, ...words], { encoding: "utf8", timeout: 300_000, maxBuffer: 1 << 28 });
    const results = readResults(folder);
    const checks = [...results.values()].flat();
    const passed = checks.filter(({ status }) => status === "SUCCESS").length;
    const clean = [...results.values()].filter((list) => list.every(({ status }) => status !== "FAILURE")).length;
    const expected = suite.expected.reduce((sum, entry) => sum + entry.checks.length, 0);
    say(`conformance ${protocol} (suite ${suite.suite}): ${passed} passed, ${clean} of ${results.size} scenarios without a failure, ${expected} expected otherwise`);
    for (const { reason, checks: listed } of suite.expected) say(`  expected: ${listed.length} — ${reason}`);
    const found = differences(suite, results);
    for (const line of found) say(`  DIFFERS: ${line}`);
    if (results.size === 0) say(`${stdout}${stderr}`);
    return found.length === 0;
  } finally {
    await served.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function main(): Promise<number> {
  const { node: nodeVersion, suites } = parse(readFileSync(repo("test/conformance/suites.yaml"), "utf8"), { schema: "failsafe" }) as { readonly node: string; readonly suites: readonly Suite[] };
  const node = nodeBinary(repo(".cache/node-22"), nodeVersion);
  if (node.path === null) {
    say(`conformance: skipped; ${node.why}`);
    return 0;
  }
  let good = true;
  let latest: string | null = null;
  for (const written of suites) {
    const suite = { ...written, scenarios: Number(written.scenarios) };
    const package_ = installed(join(cache, suite.suite), "@modelcontextprotocol/conformance", suite.suite);
    if (package_.path === null) {
      say(`conformance ${suite.protocol}: skipped; ${package_.why}`);
      continue;
    }
    latest = join(package_.path, "dist/index.js");
    good = (await runSuite(suite, node.path, latest)) && good;
  }
  if (latest !== null) good = (await runAuthorization(node.path, latest, say)) && good;
  return good ? 0 : 1;
}

process.exitCode = await main();
