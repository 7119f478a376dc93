/** How errors look that a server answers before, or instead of, its own routes: one body, one set of headers. */
import type { HeaderList } from "../transport/types.js";

/** Of every answer that a browser could show or keep. */
export const SECURITY_HEADERS: HeaderList = [
  ["x-content-type-options", "nosniff"],
  ["referrer-policy", "no-referrer"],
  ["content-security-policy", "default-src 'none'; frame-ancestors 'none'"],
  ["cache-control", "no-store"],
];

export const JSON_TYPE: HeaderList = [["content-type", "application/json"]];

export type ErrorBody = (code: string, message: string) => string;

/** `{"error":{"code","message"}}` */
export const errorBody: ErrorBody = (code, message) => JSON.stringify({ error: { code, message } });
