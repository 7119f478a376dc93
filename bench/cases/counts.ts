/** What a call costs in work instead of time: counted, so that it is the same on a busy machine. */
import { versus, type BenchCase, type Row } from "../lib/case.js";
import { countRequests, whyNotCounted, type Counts } from "../lib/callgrind.js";
import { serverFile } from "../lib/files.js";
import { CALL, HEADERS } from "../lib/program.js";

const ROWS: readonly (readonly [what: string, pick: (counts: Counts) => number])[] = [
  ["instructions", (counts) => counts.instructions],
  ["misses of the instruction cache", (counts) => counts.instructionMisses],
  ["misses of the data cache", (counts) => counts.dataMisses],
  ["mispredicted branches", (counts) => counts.mispredictedBranches],
];

export const counts: BenchCase = {
  name: "counts",
  summary: "the work for one tools/call, counted by valgrind's callgrind, against the bare uWebSockets.js handler",
  method: "Both servers run on a simulated processor with first-level caches of 32 KB; after 12,000 requests that are not counted come three rounds of 2,048 that are. It is the work of the process itself, without the kernel's, and depends neither on the machine nor on what else it does. `make counts` prints the functions it is done in.",
  async run() {
    const why = whyNotCounted();
    if (why !== null) return ROWS.map(([what]): Row => ({ what: whatOf(what), skipped: why }));
    const request = { body: CALL, headers: HEADERS };
    const [ours, peer] = await Promise.all(["toolsrv", "raw-uws"].map((name) => countRequests(serverFile(name), request)));
    return ROWS.map(([what, pick]) => versus(whatOf(what), "raw-uws", "", { ours: ours?.rounds.map(pick) ?? [], peer: peer?.rounds.map(pick) ?? [] }, null));
  },
};

function whatOf(what: string): string {
  return `tools/call: ${what} a request`;
}
