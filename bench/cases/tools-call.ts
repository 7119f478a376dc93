/** tools/call of a tool that touches no store: the whole call path, against handlers that do less or do it another way. */
import { versus, type BenchCase } from "../lib/case.js";
import { compare } from "../lib/compare.js";
import { serverFile } from "../lib/files.js";
import { CALL, HEADERS } from "../lib/program.js";

const LOAD = { body: CALL, headers: HEADERS, connections: 64 } as const;

export const toolsCall: BenchCase = {
  name: "tools-call",
  summary: "tools/call of a tool without a store, against a bare uWebSockets.js handler and the official SDK v1",
  method: "64 connections, rounds of two seconds a side in turns of a tenth of a second. The bare handler answers the same bytes and does nothing else: no validation, no checks, no limits, no versions. The SDK runs in its documented stateless mode.",
  async run() {
    const ours = { file: serverFile("toolsrv") };
    const raw = await compare({ ours, peer: { file: serverFile("raw-uws") }, rounds: 7, ...LOAD });
    const sdk = await compare({ ours, peer: { file: serverFile("sdk-v1") }, rounds: 3, ...LOAD });
    return [
      versus("tools/call, store-free", "raw-uws", "/s", raw.perSecond, { atLeast: 0.8 }, raw.notes),
      versus("tools/call, store-free", "SDK v1 stateless", "/s", sdk.perSecond, { atLeast: 30 }, sdk.notes),
    ];
  },
};
