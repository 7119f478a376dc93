/** Windows counted in this process. A call costs the same however high its limit is. */
import type { Window, WindowRefusal, WindowStore } from "./window.js";

/** Keys that are counted each for itself. */
const MAX_KEYS = 100_000;
/** Old keys that are looked at for each new one, so that sweeping keeps up with new keys. */
const SWEPT_PER_KEY = 2;
const SWEPT_WHEN_FULL = 64;
/** Limits up to this keep the time of every call; higher ones put calls of one 256th of the window together. */
const MAX_SLOTS = 256;

export class MemoryWindows implements WindowStore {
  private readonly counters = new Map<string, Counter>();
  /** The counters of the call that is being counted; kept, so that a call needs no list of its own. */
  private readonly touched: Counter[] = [];
  private sweeping: Iterator<[string, Counter]> = this.counters.entries();

  /** @param now monotonic milliseconds. */
  constructor(
    private readonly now: () => number,
    private readonly maxKeys = MAX_KEYS,
  ) {}

  take(windows: readonly Window[]): WindowRefusal | null {
    const now = this.now();
    const { touched } = this;
    let refusal: WindowRefusal | null = null;
    for (let place = 0; place < windows.length; place += 1) {
      const window = windows[place] as Window;
      const counter = this.counterOf(window, now);
      const retryAfterMs = counter.wait(window, now);
      if (retryAfterMs > 0 && (refusal === null || retryAfterMs > refusal.retryAfterMs)) refusal = { window, retryAfterMs };
      touched[place] = counter;
    }
    if (refusal !== null) return refusal;
    for (let place = 0; place < windows.length; place += 1) (touched[place] as Counter).add(windows[place] as Window, now);
    return null;
  }

  async prepare(): Promise<void> {}

  async close(): Promise<void> {
    this.counters.clear();
  }

  /** Keys that are counted. */
  get size(): number {
    return this.counters.size;
  }

  /** A window that still counts is never dropped: a caller with many names could make room and start anew. */
  private counterOf(window: Window, now: number): Counter {
    const counter = this.counters.get(window.key) ?? this.newCounter(window, now);
    // Before the next window of the call makes its key: sweeping must not take a counter that is about to be used.
    counter.overAt = now + window.windowMs;
    return counter;
  }

  private newCounter({ key, overflow }: Window, now: number): Counter {
    this.sweep(this.counters.size < this.maxKeys ? SWEPT_PER_KEY : SWEPT_WHEN_FULL, now);
    const hasRoom = this.counters.size < this.maxKeys || key === overflow;
    if (!hasRoom && this.counters.has(overflow)) return this.counters.get(overflow) as Counter;
    const counter = new Counter();
    this.counters.set(hasRoom ? key : overflow, counter);
    return counter;
  }

  /** Drops those of the next `count` keys that count nothing any more. */
  private sweep(count: number, now: number): void {
    for (let left = count; left > 0; left -= 1) {
      const next = this.sweeping.next();
      if (next.done === true) {
        this.sweeping = this.counters.entries();
        return;
      }
      const [key, counter] = next.value;
      if (counter.overAt <= now) this.counters.delete(key);
    }
  }
}

/** The calls of one key, oldest first: a ring of slots, each with the time of its last call and how many it has. */
class Counter {
  private times = new Float64Array(4);
  private counts = new Float64Array(4);
  private head = 0;
  private size = 0;
  private total = 0;
  /** First call of the newest slot. */
  private newestFrom = 0;
  /** From then on no call counts any more. */
  overAt = 0;

  /** Milliseconds until one more call fits; 0 when it fits now. */
  wait({ limit, windowMs }: Window, now: number): number {
    const mask = this.times.length - 1;
    while (this.size > 0 && this.at(this.times, this.head) + windowMs <= now) {
      this.total -= this.at(this.counts, this.head);
      this.head = (this.head + 1) & mask;
      this.size -= 1;
    }
    if (this.total < limit) return 0;
    // The limit may be lower than it was: several slots have to pass.
    let left = this.total;
    for (let index = 0; index < this.size; index += 1) {
      const slot = (this.head + index) & mask;
      left -= this.at(this.counts, slot);
      if (left < limit) return this.at(this.times, slot) + windowMs - now;
    }
    return windowMs;
  }

  add({ limit, windowMs }: Window, now: number): void {
    this.total += 1;
    const mask = this.times.length - 1;
    if (limit > MAX_SLOTS && this.size > 0 && now - this.newestFrom < windowMs / MAX_SLOTS) {
      const newest = (this.head + this.size - 1) & mask;
      // The slot passes with its last call, so a window never has more calls than its limit.
      this.times[newest] = now;
      this.counts[newest] = this.at(this.counts, newest) + 1;
      return;
    }
    if (this.size === this.times.length) this.grow();
    const slot = (this.head + this.size) & (this.times.length - 1);
    this.times[slot] = now;
    this.counts[slot] = 1;
    this.newestFrom = now;
    this.size += 1;
  }

  private grow(): void {
    const [times, counts] = [new Float64Array(this.times.length * 2), new Float64Array(this.times.length * 2)];
    for (let index = 0; index < this.size; index += 1) {
      const slot = (this.head + index) & (this.times.length - 1);
      times[index] = this.at(this.times, slot);
      counts[index] = this.at(this.counts, slot);
    }
    this.times = times;
    this.counts = counts;
    this.head = 0;
  }

  private at(values: Float64Array, slot: number): number {
    return values[slot] as number;
  }
}
