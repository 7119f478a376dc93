/**
 * A store whose credentials may change while it is open: when it refuses them, they are fetched again, the store is
 * opened with the new ones, and the request is repeated once. Requests that run finish on the store they began with.
 */
import { isBackendError } from "../abi/errors.js";
import type { Json } from "../abi/plan.js";
import type { Adapter, ReadRequest } from "../adapters/adapter.js";

export interface Opening {
  /** Opens the store with the credentials there are. */
  open(): Promise<Adapter>;
  /** Fetches the credentials again; false when they are the same, so that opening the store anew would change nothing. */
  renew(): Promise<boolean>;
  /** The native query of stores that need not be open to know it. */
  explain(request: ReadRequest): Json;
}

/** @throws what `open` and `renew` throw. */
export async function openRenewing(opening: Opening): Promise<Adapter> {
  try {
    return new RenewingAdapter(opening, await opening.open());
  } catch (error) {
    if (!isRefused(error) || !(await opening.renew())) throw error;
    return new RenewingAdapter(opening, await opening.open());
  }
}

/** One open store and the requests that use it. */
interface Held {
  readonly adapter: Adapter;
  users: number;
  retired: boolean;
}

class RenewingAdapter implements Adapter {
  private held: Held;
  private renewing: Promise<Held | null> | null = null;

  constructor(
    private readonly opening: Opening,
    adapter: Adapter,
  ) {
    this.held = { adapter, users: 0, retired: false };
  }

  explain(request: ReadRequest): Json {
    const { adapter } = this.held;
    return adapter.explain === undefined ? this.opening.explain(request) : adapter.explain(request);
  }

  health(signal: AbortSignal): Promise<void> {
    return this.use((adapter) => adapter.health(signal));
  }

  collections(signal: AbortSignal): ReturnType<Adapter["collections"]> {
    return this.use((adapter) => adapter.collections(signal));
  }

  describe(collection: string, signal: AbortSignal): ReturnType<Adapter["describe"]> {
    return this.use((adapter) => adapter.describe(collection, signal));
  }

  search(...request: Parameters<Adapter["search"]>): ReturnType<Adapter["search"]> {
    return this.use((adapter) => adapter.search(...request));
  }

  fetch(...request: Parameters<Adapter["fetch"]>): ReturnType<Adapter["fetch"]> {
    return this.use((adapter) => adapter.fetch(...request));
  }

  count(...request: Parameters<Adapter["count"]>): ReturnType<Adapter["count"]> {
    return this.use((adapter) => adapter.count(...request));
  }

  embedsText(collection: string, signal: AbortSignal): Promise<boolean> {
    return this.use((adapter) => adapter.embedsText?.(collection, signal) ?? Promise.resolve(false));
  }

  sample(...request: Parameters<Adapter["sample"]>): ReturnType<Adapter["sample"]> {
    return this.use((adapter) => adapter.sample(...request));
  }

  async close(): Promise<void> {
    await this.renewing?.catch(() => null);
    await this.held.adapter.close();
  }

  private async use<T>(request: (adapter: Adapter) => Promise<T>): Promise<T> {
    const { held } = this;
    try {
      return await this.useHeld(held, request);
    } catch (error) {
      if (!isRefused(error)) throw error;
      const next = await this.renewed(held);
      if (next === null) throw error;
      return this.useHeld(next, request);
    }
  }

  private async useHeld<T>(held: Held, request: (adapter: Adapter) => Promise<T>): Promise<T> {
    held.users += 1;
    try {
      return await request(held.adapter);
    } finally {
      held.users -= 1;
      if (held.retired && held.users === 0) void held.adapter.close().catch(() => undefined);
    }
  }

  /** The store with other credentials than `refused` has; one renewal serves all requests that were refused with it. */
  private renewed(refused: Held): Promise<Held | null> {
    if (this.held !== refused) return Promise.resolve(this.held);
    this.renewing ??= this.reopen(refused).finally(() => (this.renewing = null));
    return this.renewing;
  }

  private async reopen(refused: Held): Promise<Held | null> {
    if (!(await this.opening.renew())) return null;
    this.held = { adapter: await this.opening.open(), users: 0, retired: false };
    refused.retired = true;
    if (refused.users === 0) void refused.adapter.close().catch(() => undefined);
    return this.held;
  }
}

function isRefused(error: unknown): boolean {
  return isBackendError(error) && error.kind === "auth";
}
