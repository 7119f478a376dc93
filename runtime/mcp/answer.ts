/** What a transport is given to send: text or bytes, and what HTTP says around them. */
import { idText, type RequestId } from "./jsonrpc.js";

export interface Answer {
  /** HTTP status; other transports ignore it. */
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** JSON text. Bytes are valid until the next message is dispatched: send or copy them at once. */
  readonly body: string | Uint8Array;
}

/** Takes the answer to one message, once: `null` when there is nothing to say. Never throws. */
export interface Reply {
  answer(answered: Answer | null): void;
}

const NO_HEADERS: Answer["headers"] = [];

export function answer(body: string | Uint8Array, status = 200, headers: Answer["headers"] = NO_HEADERS): Answer {
  return { status, headers, body };
}

const HEAD = '{"jsonrpc":"2.0","id":';
/** Room for ids of 42 bytes, a UUID in quotes among them; longer ones take the slow way. */
const HEAD_ROOM = HEAD.length + 42;

/**
 * A result that never changes, serialized once. Answering copies nothing: the id is written into the room kept
 * before the result, and the same bytes are sent again.
 */
export class FixedResult {
  private readonly bytes: Buffer;

  /** @param text the result as JSON text. */
  constructor(readonly text: string) {
    this.bytes = Buffer.from(`${" ".repeat(HEAD_ROOM)},"result":${text}}`);
  }

  answer(id: RequestId): Answer {
    const head = HEAD + idText(id);
    const start = HEAD_ROOM - Buffer.byteLength(head);
    if (start < 0) return answer(Buffer.concat([Buffer.from(head), this.bytes.subarray(HEAD_ROOM)]));
    this.bytes.write(head, start);
    return answer(this.bytes.subarray(start));
  }
}
