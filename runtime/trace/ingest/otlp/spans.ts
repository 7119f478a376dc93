/** Spans of an ExportTraceServiceRequest as plain values, however it was encoded. Its unknown fields are ignored. */

export type Attributes = { readonly [name: string]: unknown };
export type MutableAttributes = { [name: string]: unknown };

export interface SpanEvent {
  readonly name: string;
  readonly attributes: Attributes;
}

export interface Span {
  /** Lower-case hex, as sent. */
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for a root. */
  readonly parentId: string;
  readonly name: string;
  /** 2 is a server, 3 a client. */
  readonly kind: number;
  /** Microseconds since the epoch; 0 when absent. */
  readonly startUs: number;
  readonly endUs: number;
  readonly attributes: Attributes;
  readonly events: readonly SpanEvent[];
  /** 2 is an error. */
  readonly statusCode: number;
  readonly statusMessage: string;
  readonly resource: Attributes;
  readonly scope: string;
}

/** Deeper values of attributes are left out. */
export const MAX_DEPTH = 32;

export type MutableSpan = { -readonly [K in keyof Span]: Span[K] };

export function emptySpan(resource: Attributes, scope: string): MutableSpan {
  return {
    traceId: "", spanId: "", parentId: "", name: "", kind: 0, startUs: 0, endUs: 0, attributes: {}, events: [], statusCode: 0, statusMessage: "", resource, scope,
  };
}

/** A number where it is exact, else its decimal text. */
export function plainInteger(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value.toString();
}

/** Sets a key that may have any name. */
export function define(into: MutableAttributes, key: string, value: unknown): void {
  if (key !== "__proto__") into[key] = value;
  else Object.defineProperty(into, key, { value, enumerable: true, configurable: true, writable: true });
}
