/** Request bodies of the ingestion endpoints: their encoding, their type, and the events in them. */
import { gunzip } from "node:zlib";

/** Largest body, as sent and after decompression. */
export const MAX_BODY_BYTES = 64 * 1024 * 1024;

export type BodyProblem = { readonly status: 400 | 413 | 415; readonly message: string };

/** The bytes behind Content-Encoding. */
export function decodeBody(body: Buffer, encoding: string): Promise<Buffer | BodyProblem> | Buffer | BodyProblem {
  const name = encoding.trim().toLowerCase();
  if (name === "" || name === "identity") return body;
  if (name !== "gzip" && name !== "x-gzip") return { status: 415, message: `Content-Encoding must be gzip or identity, not ${JSON.stringify(encoding)}` };
  return new Promise((resolve) => {
    gunzip(body, { maxOutputLength: MAX_BODY_BYTES }, (error, data) => {
      if (error === null) resolve(data);
      else if ("code" in error && error.code === "ERR_BUFFER_TOO_LARGE") resolve({ status: 413, message: `the body is larger than ${MAX_BODY_BYTES} bytes after decompression` });
      else resolve({ status: 400, message: `the body is not gzip: ${error.message}` });
    });
  });
}

export function isProblem(value: Buffer | string | BodyProblem | readonly unknown[]): value is BodyProblem {
  return typeof value === "object" && "status" in value;
}

/** Text of a body that must be UTF-8. */
export function bodyText(body: Buffer): string | BodyProblem {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(body);
  } catch {
    return { status: 400, message: "the body is not UTF-8" };
  }
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
