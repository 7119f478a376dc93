/**
 * The value of a header that decides something, such as the tenant. The HTTP library trims bytes from 0x80 at both ends
 * as if they were white space, and shows nothing of it, so such a byte never counts as part of a value: a plain value
 * is ASCII, and anything else comes in an encoding that has no such bytes. Several headers of one name arrive as a list
 * with commas, so a comma is no part of a value either: a proxy that adds its header to the client's is refused.
 */

/** How a value is written in its header; `plain` is ASCII as it is. */
export type HeaderEncoding = "plain" | "percent" | "base64url";

/** The value, or `null` when it is not written in its encoding. "" is an empty value. */
export function decodeHeaderValue(raw: string, encoding: HeaderEncoding): string | null {
  switch (encoding) {
    case "plain":
      return /^[\x20-\x2b\x2d-\x7e]*$/.test(raw) ? raw : null;
    case "percent":
      return /^(?:[\x21-\x24\x26-\x2b\x2d-\x7e]|%[0-9A-Fa-f]{2})*$/.test(raw) ? decodePercent(raw) : null;
    case "base64url":
      return decodeBase64url(raw);
    default:
      return encoding satisfies never;
  }
}

/** What a value must be, for messages. */
export function describeEncoding(encoding: HeaderEncoding): string {
  switch (encoding) {
    case "plain":
      return "there once, in plain ASCII without a comma; for other characters see security.tenancy.header_encoding";
    case "percent":
      return "there once, in ASCII with commas and everything else percent-encoded as UTF-8 (security.tenancy.header_encoding)";
    case "base64url":
      return "there once, the base64url of UTF-8, without padding (security.tenancy.header_encoding)";
    default:
      return encoding satisfies never;
  }
}

function decodePercent(raw: string): string | null {
  try {
    return decodeURIComponent(raw);
  } catch {
    return null;
  }
}

function decodeBase64url(raw: string): string | null {
  if (!/^[A-Za-z0-9_-]*$/.test(raw)) return null;
  const bytes = Buffer.from(raw, "base64url");
  // One value has one spelling: no stray bits in the last character.
  if (bytes.toString("base64url") !== raw) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}
