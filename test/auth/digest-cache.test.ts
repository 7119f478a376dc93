/** The cache of digests: always the digest of the text that was presented, and never the text. */
import assert from "node:assert/strict";
import { inspect } from "node:util";
import { DigestCache } from "../../runtime/auth/digest-cache.js";
import { digestText } from "../../runtime/auth/digest.js";
import { suite } from "../lib/suite.js";

const test = suite("auth: digests of credentials");

/** A cache, and the texts that it had to hash. */
function counted(): { readonly cache: DigestCache; readonly hashed: string[] } {
  const hashed: string[] = [];
  const cache = new DigestCache((text) => {
    hashed.push(text);
    return digestText(text);
  });
  return { cache, hashed };
}

test("a text that is presented again is not hashed again", () => {
  const { cache, hashed } = counted();
  for (let round = 0; round < 3; round += 1) assert.equal(cache.of("Bearer key-0123456789abcdef"), digestText("Bearer key-0123456789abcdef"));
  assert.deepEqual(hashed, ["Bearer key-0123456789abcdef"]);
});

test("more texts than the cache has room for have their own digests all the same", () => {
  const { cache } = counted();
  const texts = Array.from({ length: 3000 }, (_, index) => `Bearer key-${index}`);
  for (let round = 0; round < 2; round += 1) for (const text of texts) assert.equal(cache.of(text), digestText(text));
});

test("texts that differ in a character, its place or their length have digests of their own", () => {
  const { cache } = counted();
  const known = "Bearer abcdefghijklmnop";
  const others = [
    ...Array.from(known, (char, at) => known.slice(0, at) + String.fromCharCode(char.charCodeAt(0) ^ 1) + known.slice(at + 1)),
    ...Array.from(known, (_, at) => known.slice(0, at) + known.slice(at + 1)),
    "Bearer abcdefghijklmnpo", "bearer abcdefghijklmnop", `${known}\0`, `\0${known}`, `${known} `, known.toUpperCase(), [...known].reverse().join(""), "", "\0", "\0\0",
  ];
  for (const text of others) {
    assert.equal(cache.of(known), digestText(known));
    assert.equal(cache.of(text), digestText(text), inspect(text));
  }
});

test("texts that are too long, or have characters that no credential has, are hashed each time", () => {
  const { cache, hashed } = counted();
  // 0x141 is 0x41 with a bit more: a sum that took eight bits of a character would confuse them.
  const texts = ["x".repeat(4097), "Bearer \u0141bcdefghijklmno", "Bearer Abcdefghijklmno"];
  for (const text of [...texts, ...texts]) assert.equal(cache.of(text), digestText(text));
  assert.deepEqual(hashed, [...texts, ...texts.slice(0, 2)]);
});

test("nothing of a credential stays in the cache", () => {
  const { cache } = counted();
  const credential = "Bearer key-of-somebody-0123456789";
  const digest = cache.of(credential);
  const kept = inspect(cache, { depth: Number.POSITIVE_INFINITY, maxArrayLength: null, maxStringLength: null, showHidden: true });
  assert.ok(kept.includes(inspect(digest)), "the digest is there, so the text would be seen too");
  assert.doesNotMatch(kept, /somebody/);
});

test("each cache has numbers of its own, so what is learnt of one says nothing of another", () => {
  const numbersOf = (cache: DigestCache): string => String((cache as unknown as { readonly factors: Int32Array }).factors);
  const [first, second] = [numbersOf(counted().cache), numbersOf(counted().cache)];
  assert.notEqual(first, second);
  const different = new Set(first.split(","));
  assert.ok(different.size > 4_000, `${different.size} different numbers`);
});

test.run();
