/** Hostile catalogs under a real limit of memory: none ends the process, and each has its answer in time and place. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { suite } from "../lib/suite.js";
import { HOSTILE_TEXTS } from "./hostile.js";

const test = suite("fuzz: limits");

/** The whole process, Node and the compiler among it. */
const MAX_MB = 256;
/** Of one text's compilation and its diagnostics as text, in processor time: other work of the machine does not count. */
const MAX_MS = 3_000;
/** What the process may keep; with the compiler's code and what is being thrown away it stays below MAX_MB. */
const HEAP_MB = 160;

interface Told {
  readonly name: string;
  readonly ms?: number;
  readonly peakMb?: number;
  readonly compiles?: boolean;
  readonly codes?: readonly string[];
  readonly placeless?: readonly string[];
  readonly printed?: number;
}

/** What the process told of every text, and how it ended. */
function survive(): Promise<{ readonly told: readonly Told[]; readonly ended: string }> {
  const source = import.meta.url.endsWith(".ts");
  const program = fileURLToPath(new URL(source ? "./survive.ts" : "./survive.js", import.meta.url));
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [`--max-old-space-size=${HEAP_MB}`, ...(source ? ["--import", "tsx"] : []), program], { stdio: ["ignore", "pipe", "pipe"] });
    let [out, err] = ["", ""];
    child.stdout.on("data", (chunk) => (out += String(chunk)));
    child.stderr.on("data", (chunk) => (err += String(chunk)));
    child.on("close", (code, signal) => {
      const told = out.trim().split("\n").map((line) => JSON.parse(line) as Told);
      resolve({ told, ended: code === 0 ? "" : `${signal ?? `exit ${code}`} at '${told.at(-1)?.name ?? "the start"}': ${err.slice(-500)}` });
    });
  });
}

test("no hostile text ends the process, or takes over three seconds or 256 MB, or is reported without a place", async () => {
  const { told, ended } = await survive();
  assert.equal(ended, "");
  const results = told.filter(({ ms }) => ms !== undefined);
  assert.deepEqual(results.map(({ name }) => name), [...HOSTILE_TEXTS.keys()]);
  assert.deepEqual(results.filter(({ ms = Infinity }) => ms > MAX_MS).map(({ name, ms }) => `${name}: ${ms} ms`), []);
  assert.deepEqual(results.filter(({ peakMb = Infinity }) => peakMb > MAX_MB).slice(0, 1).map(({ name, peakMb }) => `${name}: ${peakMb} MB`), []);
  assert.deepEqual(results.filter(({ placeless = [] }) => placeless.length > 0).map(({ name, placeless }) => `${name}: ${placeless?.join(" ")}`), []);
  assert.deepEqual(results.filter(({ compiles, codes = [] }) => compiles === false && codes.length === 0).map(({ name }) => name), [], "what does not compile says why");
  assert.deepEqual(results.filter(({ printed = 0 }) => printed > 400_000).map(({ name }) => name), [], "nobody reads so much");
}, { timeoutMs: 200_000 });

test("the texts do what they are named for: some are catalogs after all, most are refused for one clear reason", async () => {
  const { compile } = await import("../../generator/compile.js");
  const codeOf = (name: string): string | undefined => {
    const { diagnostics } = compile({ path: "t.yaml", text: HOSTILE_TEXTS.get(name) ?? "" }, { target: "describe" });
    return diagnostics.find(({ severity }) => severity === "error")?.code;
  };
  const table: readonly (readonly [name: string, code: string | undefined])[] = [
    ["ten levels of ten aliases", "TS0006"], ["thirty levels of two aliases", "TS0006"], ["an alias of its own holder", "TS0009"], ["200,000 aliases", "TS0006"], ["a merge of 100,000 sources", "TS0006"], ["900,000 brackets", "TS0005"],
    ["an expression of 100,000 parentheses", "TS0208"], ["an expression of 100,000 terms", "TS0208"], ["an expression of 100,000 negations", "TS0208"],
    ["a filter tree of 10,000 levels", "TS0005"], ["a byte order mark", undefined], ["both line ends", undefined], ["directives", undefined],
  ];
  assert.deepEqual(table.map(([name]) => [name, codeOf(name)]), table);
}, { timeoutMs: 60_000 });

test.run();
