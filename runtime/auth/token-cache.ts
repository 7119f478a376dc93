/** Principals of tokens that were verified: by the digest of the token, so that the cache holds no credential. */
import type { Principal } from "../abi/call.js";

const MAX_TOKENS = 10_000;
/** Sum of the lengths of the tokens, which bounds what their claims take. */
const MAX_CHARS = 16 * 1024 * 1024;

interface Entry {
  readonly principal: Principal;
  /** Milliseconds since the epoch. */
  readonly until: number;
  readonly chars: number;
}

export class TokenCache {
  private readonly entries = new Map<string, Entry>();
  private chars = 0;

  get size(): number {
    return this.entries.size;
  }

  /** The principal, unless its time is over. */
  get(digest: string, now: number): Principal | null {
    const entry = this.entries.get(digest);
    if (entry === undefined) return null;
    if (now < entry.until) return entry.principal;
    this.remove(digest, entry);
    return null;
  }

  /** Makes room by dropping what was added first. */
  add(digest: string, entry: Entry): void {
    const before = this.entries.get(digest);
    if (before !== undefined) this.remove(digest, before);
    this.entries.set(digest, entry);
    this.chars += entry.chars;
    for (const [oldest, old] of this.entries) {
      if (this.entries.size <= MAX_TOKENS && this.chars <= MAX_CHARS) return;
      this.remove(oldest, old);
    }
  }

  clear(): void {
    this.entries.clear();
    this.chars = 0;
  }

  private remove(digest: string, entry: Entry): void {
    this.entries.delete(digest);
    this.chars -= entry.chars;
  }
}
