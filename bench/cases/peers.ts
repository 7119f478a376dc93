/** tools/call of a tool without a store, against the other MCP servers that npm has. */
import { versus, type BenchCase, type Row } from "../lib/case.js";
import { compare, type Side } from "../lib/compare.js";
import { serverFile } from "../lib/files.js";
import { installNpmPeers, npmPeer, npmVersion } from "../lib/npm-peers.js";
import { CALL, ENVELOPE_CALL, ENVELOPE_HEADERS, HEADERS } from "../lib/program.js";

interface Peer {
  readonly name: string;
  /** The package whose version is printed. */
  readonly from: string;
  readonly side: Side;
  /** Protocol of the load: with a handshake (2025-11-25), or without (2026-07-28). */
  readonly era: "handshake" | "stateless";
}

const PEERS: readonly Peer[] = [
  { name: "SDK v2, session", from: "@modelcontextprotocol/server", side: { file: npmPeer("sdk-v2-session"), session: true }, era: "handshake" },
  { name: "SDK v2, stateless", from: "@modelcontextprotocol/server", side: { file: npmPeer("sdk-v2-stateless") }, era: "stateless" },
  { name: "mcp-handler", from: "mcp-handler", side: { file: npmPeer("mcp-handler") }, era: "stateless" },
  { name: "mcp-use", from: "mcp-use", side: { file: npmPeer("mcp-use") }, era: "stateless" },
  { name: "tmcp, session", from: "tmcp", side: { file: npmPeer("tmcp"), session: true }, era: "handshake" },
  { name: "tmcp, stateless", from: "tmcp", side: { file: npmPeer("tmcp") }, era: "stateless" },
  { name: "FastMCP, session", from: "fastmcp", side: { file: npmPeer("fastmcp"), session: true }, era: "handshake" },
  { name: "FastMCP, stateless", from: "fastmcp", side: { file: npmPeer("fastmcp"), args: ["stateless"] }, era: "handshake" },
];

const LOADS = {
  handshake: { body: CALL, headers: HEADERS },
  stateless: { body: ENVELOPE_CALL, headers: ENVELOPE_HEADERS },
} as const;

export const peers: BenchCase = {
  name: "peers",
  summary: "tools/call of a tool without a store, against the other MCP servers that npm has, each in its documented modes",
  method: "The same tool, arguments and answer on every server; 64 connections, three rounds of two seconds a side in turns of a tenth of a second. Peers with sessions get one session, opened by a handshake before the load (2025-11-25); stateless ones get requests of 2026-07-28 where they speak it, else of 2025-11-25; we get the same requests as the peer. Versions are those of bench/peers/npm/package.json.",
  async run() {
    const why = installNpmPeers();
    if (why !== null) return PEERS.map(({ name }): Row => ({ what: `tools/call against ${name}`, skipped: why }));
    const rows: Row[] = [];
    for (const { name, from, side, era } of PEERS) {
      const compared = await compare({ ours: { file: serverFile("toolsrv") }, peer: side, connections: 64, rounds: 3, ...LOADS[era] });
      rows.push(versus(`tools/call, ${era === "handshake" ? "2025-11-25" : "2026-07-28"}`, `${name} (${from} ${npmVersion(from)})`, "/s", compared.perSecond, { atLeast: 10 }, compared.notes.map((note) => `${name}: ${note}`)));
    }
    return rows;
  },
};
