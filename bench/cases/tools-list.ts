/** tools/list over HTTP: serialized once, only the id is new. */
import { versus, type BenchCase } from "../lib/case.js";
import { compare } from "../lib/compare.js";
import { HEADERS, LIST } from "../lib/program.js";
import { serverFile } from "../lib/files.js";

export const toolsList: BenchCase = {
  name: "tools-list",
  summary: "tools/list against a bare uWebSockets.js handler with the list as a constant",
  method: "64 connections, rounds of two seconds a side in turns of a tenth of a second. We serialize a list once and write the id into it.",
  async run() {
    const load = { body: LIST, headers: HEADERS, connections: 64, rounds: 7 };
    const { perSecond, notes } = await compare({ ours: { file: serverFile("toolsrv") }, peer: { file: serverFile("raw-uws") }, ...load });
    return [versus("tools/list, 6 tools", "raw-uws", "/s", perSecond, { atLeast: 0.95 }, notes)];
  },
};
