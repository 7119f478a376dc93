/**
 * Access evidence: records of a file, linked so that none can be changed, taken out or moved without a trace. Each
 * record ends with `seq`, `prev` and `hash`. `hash` is the SHA-256 of the bytes of its own line before `,"hash":`, and
 * `prev` is the `hash` of the record before it. A verifier needs the bytes alone, no form of JSON has to be agreed on.
 *
 * Ids of records can be guessed, so they are written as salted digests. The salt is in the record that opens the file:
 * a reader of the file can ask whether an id is among the digests, and nobody can compare digests of two files.
 */
import { hash as digestOf, randomBytes } from "node:crypto";
import { AUDIT_VERSION, timestampOf, type AuditEvent } from "./event.js";

/** `prev` of the first record of a chain. */
export const GENESIS = "0".repeat(64);

/** The last record of a chain. */
export interface ChainHead {
  /** Counts the records from 0, over all files of the chain. */
  readonly seq: number;
  /** 64 hex digits. */
  readonly hash: string;
}

/** The end of a chain that is being written. */
export interface ChainState {
  readonly head: ChainHead | null;
  /** Salt of the digests of row ids: 64 hex digits, one block of SHA-256. */
  readonly salt: string;
}

export interface Linked {
  /** Lines, each with its line feed. */
  readonly text: string;
  readonly state: ChainState;
}

/** Length of a digest of an id in hex digits. Half of the hash: a text cannot be prolonged without knowing the rest. */
const ID_DIGITS = 32;

export function newSalt(): string {
  return randomBytes(32).toString("hex");
}

/** What tells of the chain itself: `open` when a file is opened, `lost` when records were dropped before this place. */
export type ChainNote = { readonly event: "open"; readonly torn_bytes: number } | { readonly event: "lost"; readonly count: number };

/** Adds notes and records to a chain. Pure; the state counts only when the text was written. */
export function link(state: ChainState, notes: readonly ChainNote[], events: readonly AuditEvent[], nowMs: number): Linked {
  let { head } = state;
  let text = "";
  const add = (body: string): void => {
    const seq = head === null ? 0 : head.seq + 1;
    const signed = `${body},"seq":${seq},"prev":"${head?.hash ?? GENESIS}"`;
    const hash = digestOf("sha256", signed, "hex");
    head = { seq, hash };
    text += `${signed},"hash":"${hash}"}\n`;
  };
  for (const note of notes) add(noteText(note, state.salt, nowMs));
  for (const event of events) add(event.rowIds === null ? event.body : `${event.body},"rows":[${event.rowIds.map((id) => `"${idDigest(state.salt, id)}"`).join(",")}]`);
  return { text, state: { ...state, head } };
}

function noteText(note: ChainNote, salt: string, nowMs: number): string {
  const start = `{"audit_version":"${AUDIT_VERSION}","timestamp":"${timestampOf(nowMs)}","event":"${note.event}"`;
  return note.event === "open" ? `${start},"salt":"${salt}"${note.torn_bytes === 0 ? "" : `,"torn_bytes":${note.torn_bytes}`}` : `${start},"count":${note.count}`;
}

/** Digest of a record id: the first 32 hex digits of SHA-256 over the salt as it is written and the id as JSON. */
export function idDigest(salt: string, id: string | number): string {
  return digestOf("sha256", salt + JSON.stringify(id), "hex").slice(0, ID_DIGITS);
}

/** A record of a chain as read back. */
export interface ChainRecord extends ChainHead {
  readonly prev: string;
  /** Whether the hash is that of the line. */
  readonly isIntact: boolean;
  /** `null` for the record of a call. */
  readonly event: string | null;
  /** Records lost before a record of event `lost`. */
  readonly lost: number;
}

/** `,"seq":7,"prev":"…","hash":"…"}`, at the end of a line. */
const SUFFIX = /,"seq":(0|[1-9]\d{0,15}),"prev":"([0-9a-f]{64})","hash":"([0-9a-f]{64})"\}$/;
const SUFFIX_BYTES = 256;
const HASH_BYTES = ',"hash":""}'.length + 64;

/** Reads a line without its line feed; `null` when it is no record of a chain. */
export function readRecord(line: Buffer): ChainRecord | null {
  const match = SUFFIX.exec(line.subarray(Math.max(0, line.length - SUFFIX_BYTES)).toString("latin1"));
  if (match === null) return null;
  const [, seq = "", prev = "", hash = ""] = match;
  const isIntact = digestOf("sha256", line.subarray(0, line.length - HASH_BYTES), "hex") === hash;
  const start = /^\{"audit_version":"[^"]*","timestamp":"[^"]*","event":"(\w+)"(?:,"count":(\d{1,15}))?/.exec(line.subarray(0, 256).toString("latin1"));
  return { seq: Number(seq), prev, hash, isIntact, event: start?.[1] ?? null, lost: start?.[1] === "lost" ? Number(start[2] ?? 0) : 0 };
}

/** Earlier files may be gone, but each file begins with the record of its opening. */
function beginningProblem({ seq, prev, event }: ChainRecord): string | null {
  if (seq === 0) return prev === GENESIS ? null : "is record 0, but names a record before it";
  return event === "open" ? null : `is record ${seq}, and a file begins with a record of event open: those before it are missing`;
}

/** Why a record cannot follow another one; `null` when it does. `before` is `null` for the first of all. */
export function problemOf(record: ChainRecord | null, before: ChainHead | null): string | null {
  if (record === null) return "is no record of a chain";
  if (!record.isIntact) return "was changed: its hash is not that of its content";
  if (before === null) return beginningProblem(record);
  if (record.seq === 0 && record.prev === GENESIS) return `begins another chain, though record ${before.seq + 1} was expected: the file before it is missing, or records are`;
  if (record.seq > before.seq + 1) return `is record ${record.seq}, though record ${before.seq + 1} was expected: records are missing or were moved`;
  if (record.seq <= before.seq) return `is record ${record.seq}, though record ${before.seq + 1} was expected: it was moved or repeated`;
  return record.prev === before.hash ? null : `does not follow record ${before.seq} as it is in the file: that one was replaced`;
}
