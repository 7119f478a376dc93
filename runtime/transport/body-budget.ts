/** The bytes of request bodies that a server has in memory, over all its connections. */
export class BodyBudget {
  private used = 0;

  constructor(readonly limitBytes: number) {}

  get usedBytes(): number {
    return this.used;
  }

  /** Whether `bytes` more would fit. */
  fits(bytes: number): boolean {
    return this.used + bytes <= this.limitBytes;
  }

  /** Reserves `bytes`; false, and nothing is reserved, when they do not fit. */
  take(bytes: number): boolean {
    if (!this.fits(bytes)) return false;
    this.used += bytes;
    return true;
  }

  give(bytes: number): void {
    this.used -= bytes;
  }
}
