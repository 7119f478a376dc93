/** tools/call of a tool that touches no store: the whole call path, against handlers that do less or do it another way. */
import type { BenchCase } from "../lib/case.js";
import { compare } from "../lib/compare.js";
import { serverFile } from "../lib/files.js";
import { CALL, HEADERS } from "../lib/program.js";

const LOAD = { body: CALL, headers: HEADERS, connections: 64, secondsPerRound: 2 } as const;

export const toolsCall: BenchCase = {
  name: "tools-call",
  summary: "tools/call against a bare uWebSockets.js handler and the official SDK v1",
  async run() {
    const ours = { file: serverFile("toolsrv") };
    const raw = await compare({ ours, peer: { file: serverFile("raw-uws") }, rounds: 7, ...LOAD });
    const sdk = await compare({ ours, peer: { file: serverFile("sdk-v1") }, rounds: 3, ...LOAD });
    return [
      {
        what: "tools/call, store-free, against raw-uws", unit: "/s", ours: raw.ours.perSecond, peer: raw.peer.perSecond, ratio: raw.ratio, goal: { atLeast: 0.8 },
        notes: [`p99 ${raw.ours.p99Ms.toFixed(2)} ms, peer ${raw.peer.p99Ms.toFixed(2)} ms`],
      },
      {
        what: "tools/call, store-free, against SDK v1 stateless", unit: "/s", ours: sdk.ours.perSecond, peer: sdk.peer.perSecond, ratio: sdk.ratio, goal: { atLeast: 30 },
        notes: [`p99 ${sdk.ours.p99Ms.toFixed(2)} ms, peer ${sdk.peer.p99Ms.toFixed(2)} ms`],
      },
    ];
  },
};
