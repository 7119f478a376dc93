/** What every user of Redis needs before it has a connection. The client library is optional, and loaded by who uses it. */

/** Whether a text is an address that Redis is reached by. It may hold a password: no message repeats it. */
export function isRedisUrl(url: unknown): url is string {
  return typeof url === "string" && URL.canParse(url) && ["redis:", "rediss:"].includes(new URL(url).protocol);
}
