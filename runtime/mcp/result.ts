/** Results of tools/call as JSON text: payloads, and failures that the model is told about. */
import type { Json } from "../abi/plan.js";
import type { ProtocolVersion } from "./versions.js";

/** A successful result. The payload is serialized once and used twice: as text, and as it is. */
export function payloadResult(payload: object, version: ProtocolVersion): string {
  const text = JSON.stringify(payload);
  const structured = version.structured ? `,"structuredContent":${text}` : "";
  return `{"content":[{"type":"text","text":${JSON.stringify(text)}}]${structured},"isError":false}`;
}

/** A failed call as a result that the model can read and act on. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  /** The same call may succeed later. */
  readonly retryable: boolean;
  readonly tool: string;
  /** Seconds until it may; only for rate limits. */
  readonly retry_after_s?: Json;
}

export function failureResult(failure: Failure): string {
  return JSON.stringify({ content: [{ type: "text", text: JSON.stringify({ error: failure }) }], isError: true });
}
