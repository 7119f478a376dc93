/** Request bodies of the ingestion endpoints: their encoding, their type, and the events in them. */
import { gunzipSync } from "node:zlib";

/** Largest body, as sent and after decompression. */
export const MAX_BODY_BYTES = 64 * 1024 * 1024;

export interface BodyProblem {
  readonly status: 400 | 413 | 415;
  readonly message: string;
  /** Events that are lost with the body, where they could be counted. */
  readonly events?: number;
}

/** The bytes behind Content-Encoding. */
export function decodeBody(body: Uint8Array, encoding: string): Uint8Array | BodyProblem {
  const name = encoding.trim().toLowerCase();
  if (name === "" || name === "identity") return body;
  if (name !== "gzip" && name !== "x-gzip") return { status: 415, message: `Content-Encoding must be gzip or identity, not ${JSON.stringify(encoding)}` };
  try {
    return gunzipSync(body, { maxOutputLength: MAX_BODY_BYTES });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ERR_BUFFER_TOO_LARGE") return { status: 413, message: `the body is larger than ${MAX_BODY_BYTES} bytes after decompression` };
    return { status: 400, message: `the body is not gzip: ${error instanceof Error ? error.message : String(error)}` };
  }
}

export function isProblem(value: object | string): value is BodyProblem {
  return typeof value === "object" && "status" in value && "message" in value;
}

/** Text of a body that must be UTF-8. */
export function bodyText(body: Uint8Array): string | BodyProblem {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    return { status: 400, message: "the body is not UTF-8" };
  }
}

/** Values of one body. As objects they take about 64 bytes each, however few bytes they are. */
const MAX_VALUES = 8_000_000;
/** Smaller bodies can't hold too many. */
const COUNTED_BYTES = 4 * 1024 * 1024;

/** Refuses JSON that would take far more memory than its bytes. */
export function tooManyValues(json: Uint8Array): BodyProblem | null {
  if (json.byteLength <= COUNTED_BYTES) return null;
  let values = 0;
  let inText = false;
  for (let at = 0; at < json.byteLength; at++) {
    const byte = json[at];
    if (inText) {
      if (byte === 0x5c) at += 1;
      else if (byte === 0x22) inText = false;
    } else if (byte === 0x22) inText = true;
    // Each value but the last follows a comma or opens a list or an object.
    else if (byte === 0x2c || byte === 0x5b || byte === 0x7b) values += 1;
  }
  return values <= MAX_VALUES ? null : { status: 413, message: `the body holds more than ${MAX_VALUES.toLocaleString("en-US")} values; send it in parts` };
}

/** The media type of a Content-Type, in lower case, without parameters. */
export function mediaType(contentType: string): string {
  return (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();
}

/** Entries of an ingest body, not yet looked at. A line of NDJSON that is no JSON becomes `unreadable`. */
export function parseEntries(text: string, type: string): readonly unknown[] | BodyProblem {
  if (type === "application/x-ndjson" || type === "application/jsonl" || type === "application/ndjson") return parseLines(text);
  if (type !== "application/json" && type !== "") {
    return { status: 415, message: `Content-Type must be application/json or application/x-ndjson, not ${JSON.stringify(type)}` };
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { status: 400, message: `the body is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
  if (Array.isArray(value)) return value;
  return { status: 400, message: "the body must be a JSON array of events, or NDJSON with its content type" };
}

/** Stands for a line that is not JSON. */
export class Unreadable {
  constructor(readonly reason: string) {}
}

function parseLines(text: string): readonly unknown[] {
  const entries: unknown[] = [];
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    try {
      entries.push(JSON.parse(line));
    } catch (error) {
      entries.push(new Unreadable(`the line is not JSON: ${error instanceof Error ? error.message : String(error)}`));
    }
  }
  return entries;
}
