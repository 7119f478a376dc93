/**
 * From the bytes of a request to events: decompression, parsing, checks, redaction and encoding, in one place for every
 * kind of body. It runs in a thread of its own, so that neither a large body nor a slow pattern of the user holds up
 * sockets; `intake-client.ts` is its other end.
 */
import { createIdSource } from "../../base/id-source.js";
import type { components } from "../api.types.gen.js";
import { LinePacker } from "../block.js";
import type { Incoming } from "../model.js";
import { encodeBatch } from "./batch.js";
import { type BodyProblem, bodyText, decodeBody, isProblem, mediaType, parseEntries, tooManyValues, Unreadable } from "./body.js";
import { readEvent, type ReadOptions } from "./event.js";
import { spanEvents } from "./otlp/events.js";
import { FactReader } from "./otlp/facts.js";
import { ProtobufSizeError, ShortTexts } from "./otlp/protobuf.js";
import type { Span } from "./otlp/spans.js";
import { spansOfJson } from "./otlp/spans-json.js";
import { spansOfProtobuf } from "./otlp/spans-protobuf.js";
import type { EncodedBatch } from "./queue.js";
import { createRedactor, type Redactor, type RedactOptions } from "./redact.js";
import { readRegistration, type Registration } from "./registration.js";

type Rejection = components["schemas"]["Rejection"];

/** A request's body as it came. */
export interface RawBody {
  readonly bytes: Uint8Array;
  /** Content-Encoding and Content-Type, "" when there is none. */
  readonly encoding: string;
  readonly type: string;
  /** When it came, in milliseconds since the epoch: the time of events that give none. */
  readonly atMs: number;
}

export interface EventsRead {
  readonly batches: readonly EncodedBatch[];
  readonly accepted: number;
  readonly rejected: Rejection[];
}

export interface SpansRead {
  readonly batches: readonly EncodedBatch[];
  /** Spans that make no event, and why the first of them does not. */
  readonly refused: number;
  readonly reason: string | null;
}

export interface IntakeOptions {
  readonly summaryChars: number;
  /** Events of a batch at most. */
  readonly batchSize: number;
  /** Events of a request at most: more could never be queued. */
  readonly maxEvents: number;
  readonly redact: RedactOptions;
  /** The store takes the texts of a run in blocks. */
  readonly packs: boolean;
}

export class Intake {
  readonly #redactor: Redactor | null;
  readonly #reading: ReadOptions;
  readonly #texts = new ShortTexts();
  readonly #facts = new FactReader();
  readonly #packer: LinePacker | null;
  #atMs = 0;

  constructor(private readonly options: IntakeOptions) {
    this.#redactor = createRedactor(options.redact);
    this.#packer = options.packs ? new LinePacker() : null;
    this.#reading = { summaryChars: options.summaryChars, newId: createIdSource(() => this.#atMs), nowUs: () => Math.floor(this.#atMs * 1000) };
  }

  /** A body of the ingest endpoint. */
  events(body: RawBody): EventsRead | BodyProblem {
    this.#atMs = body.atMs;
    const bytes = decodeBody(body.bytes, body.encoding);
    if (isProblem(bytes)) return bytes;
    const text = tooManyValues(bytes) ?? bodyText(bytes);
    if (isProblem(text)) return text;
    const entries = parseEntries(text, mediaType(body.type));
    if (isProblem(entries)) return entries;
    if (entries.length > this.options.maxEvents) return { status: 413, message: `the body has ${entries.length} events; one request may have ${this.options.maxEvents}`, events: entries.length };
    const redactor = this.#concerned(bytes, text) ? this.#redactor : null;
    const batches = this.#batches();
    const rejected: Rejection[] = [];
    entries.forEach((entry, index) => {
      const read = entry instanceof Unreadable ? entry.reason : this.#read(entry, redactor);
      if (typeof read === "string") rejected.push({ index, error: read });
      else batches.add(read);
    });
    return { batches: batches.finish(), accepted: entries.length - rejected.length, rejected };
  }

  /** An OTLP export request in protobuf or JSON; 400 when it is none. */
  spans(body: RawBody, protobuf: boolean): SpansRead | BodyProblem {
    this.#atMs = body.atMs;
    const bytes = decodeBody(body.bytes, body.encoding);
    if (isProblem(bytes)) return bytes;
    const excess = protobuf ? null : tooManyValues(bytes);
    if (excess !== null) return excess;
    let read: { readonly spans: readonly Span[]; readonly isClean: boolean };
    try {
      read = protobuf ? this.#protobuf(bytes) : this.#json(bytes);
    } catch (error) {
      return { status: error instanceof ProtobufSizeError ? 413 : 400, message: error instanceof Error ? error.message : String(error) };
    }
    const { events, refused, reason } = spanEvents(read.spans, { summaryChars: this.options.summaryChars, facts: this.#facts, redactor: read.isClean ? null : this.#redactor, defers: this.options.packs });
    const batches = this.#batches();
    for (const event of events) batches.add(event);
    return { batches: batches.finish(), refused, reason };
  }

  #protobuf(bytes: Uint8Array): { readonly spans: readonly Span[]; readonly isClean: boolean } {
    const redactor = this.#redactor;
    const concerns = (all: Buffer, from: number, to: number): boolean => redactor !== null && redactor.concernsBytes(all, from, to) && redactor.concerns(all.toString("latin1", from, to));
    const facts = { isSuspect: false, concerns };
    const spans = spansOfProtobuf(bytes, this.#texts, facts);
    return { spans, isClean: !facts.isSuspect };
  }

  /** Whether anything of a body may need redaction. */
  #concerned(bytes: Uint8Array, text: string): boolean {
    return this.#redactor !== null && this.#redactor.concernsBytes(bytes) && this.#redactor.concerns(text);
  }

  #batches(): BatchWriter {
    return new BatchWriter(this.options.batchSize, this.#packer);
  }

  #json(bytes: Uint8Array): { readonly spans: readonly Span[]; readonly isClean: boolean } {
    const text = bodyText(bytes);
    if (isProblem(text)) throw new Error(text.message);
    return { spans: spansOfJson(JSON.parse(text)), isClean: !this.#concerned(bytes, text) };
  }

  #read(value: unknown, redactor: Redactor | null): Incoming | string {
    try {
      return readEvent(value, this.#reading, redactor);
    } catch (error) {
      // The engine's own bound: some thousand levels.
      if (error instanceof RangeError) return "the event is nested too deeply to be stored";
      throw error;
    }
  }

  /** The tools of a server. */
  registration(body: RawBody): Registration | BodyProblem {
    const text = textOf(body);
    if (isProblem(text)) return text;
    if (mediaType(body.type) !== "application/json") return { status: 415, message: "Content-Type must be application/json" };
    try {
      return readRegistration(JSON.parse(text));
    } catch (error) {
      return { status: 400, message: `the body is not JSON: ${error instanceof Error ? error.message : String(error)}` };
    }
  }
}

function textOf(body: RawBody): string | BodyProblem {
  const bytes = decodeBody(body.bytes, body.encoding);
  return isProblem(bytes) ? bytes : (tooManyValues(bytes) ?? bodyText(bytes));
}

/** Events in batches of a size, each as bytes as soon as it is full. */
class BatchWriter {
  readonly #batches: EncodedBatch[] = [];
  #open: Incoming[] = [];

  constructor(
    private readonly batchSize: number,
    private readonly packer: LinePacker | null,
  ) {}

  add(event: Incoming): void {
    this.#open.push(event);
    if (this.#open.length >= this.batchSize) this.#seal();
  }

  finish(): readonly EncodedBatch[] {
    if (this.#open.length > 0) this.#seal();
    return this.#batches;
  }

  #seal(): void {
    this.#batches.push({ data: encodeBatch(this.#open, this.packer), count: this.#open.length });
    this.#open = [];
  }
}
