/**
 * `node dist/bench/counts.js [tools-call|tools-list]`: counts what we and the bare uWebSockets.js handler do for a
 * request, and prints in what kind of code that is, and the functions of each with the most cache misses and mispredicted
 * branches. See lib/callgrind.ts.
 */
import { countRequests, whyNotCounted, type Counts } from "./lib/callgrind.js";
import { median } from "./lib/case.js";
import { serverFile } from "./lib/files.js";
import { CALL, HEADERS, LIST } from "./lib/program.js";

const SHOWN = 40;
const NAME_LENGTH = 110;
/** Kinds of code by names of functions; the first one that fits counts. */
const KINDS: readonly (readonly [kind: string, names: RegExp])[] = [
  ["JavaScript of this repository", /^JS:.* dist\//],
  ["JavaScript of Node and packages", /^JS:/],
  ["builtins of V8", /^Builtins_/],
  ["uWebSockets.js", /uws\.node|uWS::|^us_/],
  ["garbage collection", /Scaveng|Sweeper|IterateObjectCache|Mark(?:ing|Compact)|GlobalHandles|RootVisitor|IteratePointers/],
  ["V8, in C++", /v8::/],
  ["Node, libraries, names that are not known", /(?:)/],
];
const BODIES: { readonly [name: string]: string } = { "tools-call": CALL, "tools-list": LIST };

const print = (line: string): void => void process.stdout.write(`${line}\n`);
const [name = "tools-call"] = process.argv.slice(2);
const body = BODIES[name];
const why = whyNotCounted();
if (body === undefined) {
  process.stderr.write(`no request is named ${name}; there are: ${Object.keys(BODIES).join(", ")}\n`);
  process.exitCode = 2;
} else if (why !== null) {
  print(`skipped: ${why}`);
} else {
  const servers = ["toolsrv", "raw-uws"];
  const all = await Promise.all(servers.map((server) => countRequests(serverFile(server), { body, headers: HEADERS })));
  const total = (rounds: readonly Counts[], pick: (counts: Counts) => number): number => median(rounds.map(pick));
  for (const [index, { rounds, functions }] of all.entries()) {
    print(`\n${servers[index]}, ${name}: per request`);
    print("instructions  I1 misses  D1 misses  mispredicted");
    print(lineOf({
      instructions: total(rounds, (counts) => counts.instructions), instructionMisses: total(rounds, (counts) => counts.instructionMisses),
      dataMisses: total(rounds, (counts) => counts.dataMisses), mispredictedBranches: total(rounds, (counts) => counts.mispredictedBranches),
    }, "all of it"));
    for (const [kind, counts] of byKind(functions)) print(lineOf(counts, kind));
    print("");
    const stalls = (counts: Counts): number => counts.instructionMisses + counts.dataMisses + counts.mispredictedBranches;
    for (const [label, counts] of [...functions].sort(([, a], [, b]) => stalls(b) - stalls(a)).slice(0, SHOWN)) print(lineOf(counts, label.slice(0, NAME_LENGTH)));
  }
}

function byKind(functions: ReadonlyMap<string, Counts>): ReadonlyMap<string, Counts> {
  const sums = new Map<string, Counts>();
  const none: Counts = { instructions: 0, instructionMisses: 0, dataMisses: 0, mispredictedBranches: 0 };
  for (const [label, counts] of functions) {
    const [kind = ""] = KINDS.find(([, names]) => names.test(label)) ?? [];
    const { instructions, instructionMisses, dataMisses, mispredictedBranches } = sums.get(kind) ?? none;
    sums.set(kind, {
      instructions: instructions + counts.instructions, instructionMisses: instructionMisses + counts.instructionMisses,
      dataMisses: dataMisses + counts.dataMisses, mispredictedBranches: mispredictedBranches + counts.mispredictedBranches,
    });
  }
  return sums;
}

function lineOf({ instructions, instructionMisses, dataMisses, mispredictedBranches }: Counts, label: string): string {
  const column = (value: number, width: number): string => value.toFixed(1).padStart(width);
  return `${column(instructions, 12)}${column(instructionMisses, 11)}${column(dataMisses, 11)}${column(mispredictedBranches, 14)}  ${label}`;
}
