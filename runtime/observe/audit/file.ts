/**
 * The file sink: appends lines to a file that only its owner can read, and opens it again after it was rotated away.
 * With a chain it goes on where the file ends, and no other process may write there. Every access after the start is
 * asynchronous: a slow disk delays no call.
 */
import { constants } from "node:fs";
import { lstat, open, type FileHandle } from "node:fs/promises";
import { ToolError } from "../../abi/errors.js";
import type { FileLock } from "../../base/file-lock.js";
import { systemProblem } from "../../base/system-error.js";
import type { Log } from "../log.js";
import { link, newSalt, readRecord, type ChainHead, type ChainNote } from "./chain.js";
import type { AuditEvent } from "./event.js";
import { linesOf, type AuditSink } from "./sink.js";

export interface FileSinkOptions {
  readonly path: string;
  /** As the user wrote it. */
  readonly shown: string;
  readonly chain: boolean;
  readonly log: Pick<Log, "warn">;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const LINE_FEED = 10;
const READ_BYTES = 64 * 1024;
/** Longest record that is read back; written ones are far shorter. */
const MAX_RECORD_BYTES = 4 * 1024 * 1024;
// No symbolic link is followed, and a pipe without a reader is an error at once. Absent on systems without them.
const SAFELY = (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** An open file, and where it ends. */
interface Open {
  readonly handle: FileHandle;
  readonly isRegular: boolean;
  readonly device: number;
  readonly inode: number;
  size: number;
  /** A line without its end is the last thing in the file. */
  startsLine: boolean;
}

export function fileSink(options: FileSinkOptions): AuditSink {
  return new FileSink(options);
}

class FileSink implements AuditSink {
  readonly name: string;
  #open: Open | null = null;
  #head: ChainHead | null = null;
  #lock: FileLock | null = null;
  /** One for the process: digests of one id can be compared within what it wrote. */
  readonly #salt = newSalt();
  /** To be written before the next record. */
  #notes: ChainNote[] = [];

  constructor(private readonly options: FileSinkOptions) {
    this.name = `file ${options.shown}`;
  }

  async prepare(): Promise<void> {
    try {
      await this.#opened();
    } catch (error) {
      // A start that fails keeps no lock: an application may try again.
      await this.close();
      if (error instanceof ToolError) throw error;
      const problem = systemProblem(error);
      throw problem === null ? error : new ToolError("tds_invalid", `audit: ${problem}`);
    }
  }

  async deliver(events: readonly AuditEvent[], lost: number): Promise<number> {
    const file = await this.#opened();
    if (!this.options.chain) {
      await this.#append(file, (file.startsLine ? "" : "\n") + linesOf(events));
      return 0;
    }
    const notes = lost === 0 ? this.#notes : [...this.#notes, { event: "lost", count: lost } as const];
    const { text, state } = link({ head: this.#head, salt: this.#salt }, notes, events, this.options.now());
    await this.#append(file, text);
    this.#head = state.head;
    this.#notes = [];
    return 0;
  }

  async close(): Promise<void> {
    const file = this.#open;
    this.#open = null;
    if (file?.isRegular === true) await file.handle.datasync().catch(() => undefined);
    await file?.handle.close();
    this.#lock?.release();
    this.#lock = null;
  }

  /** The file at the path: the one that is open, unless another one, or none, is there now. */
  async #opened(): Promise<Open> {
    const before = this.#open;
    if (before !== null && (await this.#isCurrent(before))) return before;
    await this.#drop();
    const file = await openSafely(this.options.path, this.options.shown, this.options.chain);
    try {
      if (this.options.chain) {
        this.#lock ??= await lockOf(this.options.path, this.options.shown);
        await this.#resume(file);
      }
    } catch (error) {
      await file.handle.close();
      throw error;
    }
    this.#open = file;
    return file;
  }

  async #isCurrent({ handle, isRegular, device, inode, size }: Open): Promise<boolean> {
    const there = await lstat(this.options.path).catch(() => null);
    if (there === null || there.dev !== device || there.ino !== inode) return false;
    // Emptied in its place, or written by somebody else: a chain has to look at the end again.
    return !isRegular || !this.options.chain || (await handle.stat()).size === size;
  }

  /** Goes on after the last record of the file; in an empty file, after the last one that this process wrote. */
  async #resume(file: Open): Promise<void> {
    const { shown, path, log } = this.options;
    const torn = await cutTornLine(file, path, shown);
    if (torn > 0) log.warn("the last audit record was not written whole; it was moved aside", { file: shown, moved_to: `${shown}.torn`, bytes: torn });
    const last = await lastLine(file);
    if (last !== null) {
      const record = readRecord(last);
      if (record === null) throw new ToolError("tds_invalid", `audit: the last line of '${shown}' is no record of a chain; move the file away, so that a new one begins`);
      if (!record.isIntact) throw new ToolError("tds_invalid", `audit: the last record of '${shown}' was changed; move the file away and run 'toolsrv audit verify' on it`);
      this.#head = { seq: record.seq, hash: record.hash };
    }
    // The note of an attempt before this one may not have been written.
    const before = this.#notes.reduce((sum, note) => sum + (note.event === "open" ? note.torn_bytes : 0), 0);
    this.#notes = [{ event: "open", torn_bytes: before + torn }];
  }

  /** Writes the text, or takes back what a failure left of it. */
  async #append(file: Open, text: string): Promise<void> {
    const bytes = Buffer.from(text, "utf8");
    let written = 0;
    try {
      while (written < bytes.length) written += (await file.handle.write(bytes, written)).bytesWritten;
      file.size += bytes.length;
      file.startsLine = true;
    } catch (error) {
      await this.#takeBack(file, written).catch(() => undefined);
      await this.#drop();
      throw error;
    }
  }

  async #takeBack({ handle, isRegular, size }: Open, written: number): Promise<void> {
    // Lines that another process added in the meantime are not ours to remove.
    if (isRegular && written > 0 && (await handle.stat()).size === size + written) await handle.truncate(size);
  }

  async #drop(): Promise<void> {
    const file = this.#open;
    this.#open = null;
    await file?.handle.close().catch(() => undefined);
  }
}

/**
 * Two processes that add to one chain would break it, and the records of both would prove nothing. The lock is on a file
 * of its own, so it outlasts rotations.
 */
async function lockOf(path: string, shown: string): Promise<FileLock> {
  const { lockBeside } = await import("../../base/file-lock.js");
  const lock = lockBeside(path);
  if (lock === null) throw new ToolError("tds_invalid", `audit: another server, or another connection of this process, writes the chain in '${shown}'; give each a file of its own`);
  return lock;
}

async function openSafely(path: string, shown: string, readable: boolean): Promise<Open> {
  const handle = await open(path, (readable ? constants.O_RDWR : constants.O_WRONLY) | constants.O_APPEND | constants.O_CREAT | SAFELY, 0o600);
  try {
    const stat = await handle.stat();
    const { dev: device, ino: inode, size } = stat;
    const isRegular = stat.isFile();
    if (!isRegular && (readable || !stat.isCharacterDevice())) throw new ToolError("tds_invalid", `audit: '${shown}' is not a regular file`);
    // Only the owner may do that: a file that somebody else put there is refused, and one that others could read is not theirs any more.
    if (isRegular) await handle.chmod(0o600);
    const startsLine = size === 0 || !isRegular || (await endsWithLineFeed(path, size, inode));
    return { handle, isRegular, device, inode, size, startsLine };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/** Read through a handle of its own: the one that appends may not read. */
async function endsWithLineFeed(path: string, size: number, inode: number): Promise<boolean> {
  const handle = await open(path, constants.O_RDONLY | SAFELY);
  try {
    if ((await handle.stat()).ino !== inode) return true;
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
    return bytesRead === 1 && buffer[0] === LINE_FEED;
  } finally {
    await handle.close();
  }
}

/** Moves what stands behind the last line feed to `<path>.torn`; returns its bytes. */
async function cutTornLine(file: Open, path: string, shown: string): Promise<number> {
  if (file.startsLine) return 0;
  const start = await startOfLine(file, file.size, shown);
  const bytes = await readAt(file, start, file.size);
  const aside = await openSafely(`${path}.torn`, `${shown}.torn`, false);
  try {
    await aside.handle.write(Buffer.concat([bytes, Buffer.from("\n")]));
  } finally {
    await aside.handle.close();
  }
  await file.handle.truncate(start);
  file.size = start;
  file.startsLine = true;
  return bytes.length;
}

/** The last line without its line feed; `null` in an empty file. */
async function lastLine(file: Open): Promise<Buffer | null> {
  if (file.size === 0) return null;
  const end = file.size - 1;
  return readAt(file, await startOfLine(file, end, ""), end);
}

/** Where the line that reaches to `end` begins. */
async function startOfLine(file: Open, end: number, shown: string): Promise<number> {
  for (let upTo = end; upTo > 0; ) {
    const from = Math.max(0, upTo - READ_BYTES);
    const at = (await readAt(file, from, upTo)).lastIndexOf(LINE_FEED);
    if (at >= 0) return from + at + 1;
    if (end - from > MAX_RECORD_BYTES) throw new ToolError("tds_invalid", `audit: the last line of '${shown}' is too long for a record; move the file away`);
    upTo = from;
  }
  return 0;
}

async function readAt({ handle }: Open, from: number, to: number): Promise<Buffer> {
  const buffer = Buffer.alloc(to - from);
  let read = 0;
  while (read < buffer.length) {
    const { bytesRead } = await handle.read(buffer, read, buffer.length - read, from + read);
    if (bytesRead === 0) break;
    read += bytesRead;
  }
  return buffer.subarray(0, read);
}
