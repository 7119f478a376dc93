/**
 * The counters of one process, shared by its catalogs and by what they were before a reload: a limit does not start anew
 * when a catalog is saved.
 */
import { isRedisUrl } from "../base/redis.js";
import { ToolError } from "../abi/errors.js";
import type { RateLimitPlan } from "../abi/plan.js";
import { MemoryWindows } from "./window-memory.js";
import { RedisWindows } from "./window-redis.js";
import type { WindowStore } from "./window.js";

export interface LimitStores {
  /** @param plan its references filled. @throws ToolError tds_invalid for an address that is none. */
  of(plan: RateLimitPlan): WindowStore;
  close(): Promise<void>;
}

export interface LimitStoresOptions {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Called when a store stops answering, and when it answers again. `cause` may repeat what it was given: for the log alone. */
  readonly changed?: (state: "down" | "up", cause: unknown) => void;
}

type Open = (plan: RateLimitPlan) => { readonly key: string; make(): WindowStore };

/** Makes each store when a catalog names it. */
export function createLimitStores({ now, changed = () => undefined }: LimitStoresOptions): LimitStores {
  const stores: { readonly [S in RateLimitPlan["store"]]: Open } = {
    memory: () => ({ key: "memory", make: () => new MemoryWindows(now) }),
    redis({ redis_url: url }) {
      if (!isRedisUrl(url)) throw new ToolError("tds_invalid", "security.rate_limit.redis_url is not an address such as redis://host:6379 or rediss://host:6379");
      return { key: url, make: () => new RedisWindows({ url, now, changed }) };
    },
  };
  const open = new Map<string, WindowStore>();
  return {
    of(plan) {
      const { key, make } = stores[plan.store](plan);
      const store = open.get(key) ?? make();
      open.set(key, store);
      return store;
    },
    async close() {
      await Promise.allSettled([...open.values()].map((store) => store.close()));
      open.clear();
    },
  };
}
