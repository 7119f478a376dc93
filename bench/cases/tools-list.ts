/** tools/list over HTTP: serialized once, only the id is new. */
import type { BenchCase } from "../lib/case.js";
import { compare } from "../lib/compare.js";
import { HEADERS, LIST } from "../lib/program.js";
import { serverFile } from "../lib/files.js";

export const toolsList: BenchCase = {
  name: "tools-list",
  summary: "tools/list against a bare uWebSockets.js handler with the list as a constant",
  async run() {
    const load = { body: LIST, headers: HEADERS, connections: 64, rounds: 7, secondsPerRound: 2 };
    const { ours, peer, ratio } = await compare({ ours: { file: serverFile("toolsrv") }, peer: { file: serverFile("raw-uws") }, ...load });
    return [{
      what: "tools/list, 6 tools, against raw-uws", unit: "/s", ours: ours.perSecond, peer: peer.perSecond, ratio, goal: { atLeast: 0.95 },
      notes: [`p99 ${ours.p99Ms.toFixed(2)} ms, peer ${peer.p99Ms.toFixed(2)} ms`],
    }];
  },
};
