/** The other end of a conversation without a transport: it keeps what it is told. */
import type { Principal } from "../../runtime/abi/call.js";
import type { Severity } from "../../runtime/abi/extra-tools.js";
import type { RequestId } from "../../runtime/mcp/jsonrpc.js";
import type { Peer } from "../../runtime/mcp/server.js";
import { versionNamed, type ProtocolVersion } from "../../runtime/mcp/versions.js";

/** A peer in this process; `transport` http or stdio. */
export class TestPeer implements Peer {
  version: ProtocolVersion | null;
  readonly principal: Principal = { id: null, claims: {}, headers: {} };
  readonly session = null;
  readonly running = new Map<RequestId, AbortController>();

  constructor(version: string | null = "2025-11-25", readonly transport: "stdio" | "http" = "stdio") {
    this.version = version === null ? null : versionNamed(version, "handshake") ?? versionNamed(version, "stateless");
  }

  agree(version: ProtocolVersion): void {
    this.version = version;
  }

  begin(id: RequestId): boolean {
    if (this.running.has(id)) return false;
    this.running.set(id, new AbortController());
    return true;
  }

  signal(id: RequestId): AbortSignal {
    return this.running.get(id)?.signal ?? AbortSignal.abort();
  }

  end(id: RequestId): void {
    this.running.delete(id);
  }

  cancel(id: RequestId): void {
    this.running.get(id)?.abort();
  }

  /** Notifications, in order. */
  readonly told: { readonly method: string; readonly params: { readonly [key: string]: unknown } }[] = [];
  logLevel: Severity | null = null;

  setLogLevel(level: Severity): void {
    this.logLevel = level;
  }

  notify(text: string): void {
    this.told.push(JSON.parse(text) as (typeof this.told)[number]);
  }
}
