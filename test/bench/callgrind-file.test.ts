/** Costs by function, from a file as callgrind writes it and a map as V8 writes it. */
import assert from "node:assert/strict";
import { sumByFunction } from "../../bench/lib/callgrind-file.js";
import { root } from "../lib/repo.js";
import { suite } from "../lib/suite.js";

const test = suite("callgrind file");

const HEAD = "version: 1\npositions: instr line\nevents: Ir I1mr Bcm \n";
const COMPILED = `2000 40 JS:*old file://${root}/gone.js:1:1\n2000 20 JS:*answer file://${root}/dist/a.js:3:9\n2100 10 Builtin:X\n`;

const sums = (body: string): { readonly [name: string]: unknown } => Object.fromEntries(sumByFunction(HEAD + body, COMPILED));

test("costs of one function are added up, and those left out at the end of a line are zero", () => {
  assert.deepEqual(sums("fn=(1) main\n0x10 0 5 1 2\n+3 0 7\n\nfn=(1)\n* * 1 1\n"), { main: { Ir: 13, I1mr: 2, Bcm: 2 } });
});

test("what a function calls is not counted as its own", () => {
  assert.deepEqual(sums("fn=(1) main\n0x10 0 5\ncfn=(2) called\ncalls=1 0x90 0\n0x14 0 900 9 9\n+1 0 2\n\nfn=(2)\n0x90 0 900 9 9\n"), {
    main: { Ir: 7, I1mr: 0, Bcm: 0 },
    called: { Ir: 900, I1mr: 9, Bcm: 9 },
  });
});

test("compiled functions are named by address, the later of two at one place; others by their library", () => {
  assert.deepEqual(sums("cob=(1) /some/uws.node\nob=(1)\nfn=(1) ???\n0x2004 0 5\n+256 0 3\n-1 0 1\n+32768 0 4\n"), {
    "JS:*answer dist/a.js:3:9": { Ir: 5, I1mr: 0, Bcm: 0 },
    "Builtin:X": { Ir: 4, I1mr: 0, Bcm: 0 },
    "somewhere in uws.node": { Ir: 4, I1mr: 0, Bcm: 0 },
  });
});

test.run();
