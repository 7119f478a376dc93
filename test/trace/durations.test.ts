/** Percentiles from buckets, held against the durations themselves. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { suite } from "../lib/suite.js";
import { bucketOf, bucketTop, percentile } from "../../runtime/trace/record/durations.js";

const test = suite("trace durations");

function fromBuckets(durations: readonly number[], fraction: number): number | null {
  const counts = new Map<number, number>();
  for (const ms of durations) counts.set(bucketOf(ms), (counts.get(bucketOf(ms)) ?? 0) + 1);
  return percentile(counts, fraction, Math.max(0, ...durations));
}

/** Nearest rank of the durations themselves. */
function nearestRank(durations: readonly number[], fraction: number): number | null {
  const sorted = [...durations].sort((a, b) => a - b);
  return sorted[Math.max(1, Math.ceil(sorted.length * fraction)) - 1] ?? null;
}

const few = fc.array(fc.nat(100_000_000), { maxLength: 99 });
const short = fc.array(fc.nat(255), { maxLength: 400 });
const any = fc.array(fc.oneof(fc.nat(255), fc.nat(100_000), fc.nat(2_000_000_000)), { minLength: 1, maxLength: 400 });
const fraction = fc.constantFrom(0.5, 0.9, 0.99, 1);

test("of fewer than 100 durations p99 is exactly the longest, without any there is none", () => {
  assert.equal(fromBuckets([], 0.99), null);
  fc.assert(fc.property(few, (durations) => assert.equal(fromBuckets(durations, 0.99), nearestRank(durations, 0.99))));
});

test("durations below 256 ms have exact percentiles, however many there are", () =>
  fc.assert(fc.property(short, fraction, (durations, part) => assert.equal(fromBuckets(durations, part), nearestRank(durations, part)))));

test("any percentile is at least the exact one and less than 0.8 % above it", () =>
  fc.assert(
    fc.property(any, fraction, (durations, part) => {
      const exact = nearestRank(durations, part) ?? assert.fail();
      const found = fromBuckets(durations, part) ?? assert.fail();
      assert.ok(found >= exact && found - exact <= exact * 0.008, `${found} for ${exact}`);
    }),
  ));

test("buckets follow each other without a gap", () => {
  for (let bucket = 0; bucket < 3000; bucket++) assert.deepEqual([bucketOf(bucketTop(bucket)), bucketOf(bucketTop(bucket) + 1)], [bucket, bucket + 1]);
});

test.run();
