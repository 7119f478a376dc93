/**
 * Durations counted in buckets, so that percentiles add up over batches, runs and replicas. Up to 255 ms a bucket is
 * one millisecond; beyond, each power of two has 128 buckets, an error below 0.8 %.
 */

/** Bucket of a duration in whole milliseconds. */
export function bucketOf(ms: number): number {
  if (ms < 256) return ms;
  const shift = Math.floor(Math.log2(ms)) - 7;
  return 256 + (shift - 1) * 128 + Math.floor(ms / 2 ** shift) - 128;
}

/** The largest duration of a bucket. */
export function bucketTop(bucket: number): number {
  if (bucket < 256) return bucket;
  const shift = Math.floor((bucket - 256) / 128) + 1;
  return (((bucket - 256) % 128) + 128 + 1) * 2 ** shift - 1;
}

/**
 * Percentile by nearest rank, never above `max`; `null` without counts. With fewer than 100 durations the 99th
 * percentile is the longest one, exactly.
 */
export function percentile(counts: Iterable<readonly [bucket: number, count: number]>, fraction: number, max: number): number | null {
  const sorted = [...counts].filter(([, count]) => count > 0).sort((a, b) => a[0] - b[0]);
  const total = sorted.reduce((sum, [, count]) => sum + count, 0);
  if (total === 0) return null;
  let left = Math.max(1, Math.ceil(total * fraction));
  for (const [bucket, count] of sorted) {
    left -= count;
    if (left <= 0) return Math.min(bucketTop(bucket), max);
  }
  return max;
}
