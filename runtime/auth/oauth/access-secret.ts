/**
 * The access secret: what a person types on the login page. It is made once, written to a file that only its owner can
 * read, and kept as a scrypt hash. It is never printed.
 */
import { randomBytes, scrypt } from "node:crypto";
import { chmodSync, linkSync, lstatSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { makeFolder } from "../../base/make-folder.js";
import { EXIT, StartError } from "../../config/exit.js";
import { sameDigest } from "../digest.js";
import type { AuthStore } from "./store.js";

const SECRET_BYTES = 24;
const SECRET = /^[A-Za-z0-9_-]{32}$/;
/** 16 MiB for each comparison: the secret has 192 random bits, so the hash need not slow down guessing by much. */
const COST = { N: 16384, r: 8, p: 1 } as const;
const KEY_BYTES = 32;
const SALT_BYTES = 16;

export function secretFile(stateFolder: string): string {
  return join(stateFolder, "access-secret.once");
}

/**
 * Makes the secret at the first start. A file that is there already (another replica on this machine wrote it, or a
 * start ended half-way) is used as it is. Of several replicas one sets the secret of the store; the others remove the
 * file that they made.
 * @returns whether this server wrote the file.
 * @throws StartError exit 2 when the file is there and unusable, or cannot be written.
 */
export async function ensureSecret(store: AuthStore, stateFolder: string): Promise<boolean> {
  if ((await store.secretHash()) !== null) return false;
  const file = secretFile(stateFolder);
  const secret = newSecret();
  const isOwn = place(stateFolder, file, secret);
  const isSet = await store.initSecret(await hashSecret(isOwn ? secret : readSecret(file)));
  if (!isSet && isOwn) rmSync(file, { force: true });
  return isSet && isOwn;
}

/** Replaces the secret and drops every login. @returns the file it was written to. */
export async function rotateSecret(store: AuthStore, stateFolder: string): Promise<string> {
  const file = secretFile(stateFolder);
  const beside = besideOf(file);
  const secret = newSecret();
  try {
    prepareFolder(stateFolder);
    writeFileSync(beside, `${secret}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    throw unwritable(file, error);
  }
  try {
    await store.replaceSecret(await hashSecret(secret));
    renameSync(beside, file);
  } finally {
    rmSync(beside, { force: true });
  }
  return file;
}

/** `scrypt$N$r$p$salt$key` */
export async function hashSecret(secret: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const key = await derive(secret, salt, COST);
  return ["scrypt", COST.N, COST.r, COST.p, salt.toString("base64url"), key.toString("base64url")].join("$");
}

/** Whether a text is the secret; compares in constant time. */
export async function isSecret(text: string, hash: string): Promise<boolean> {
  const [kind, N, r, p, salt = "", key = ""] = hash.split("$");
  if (kind !== "scrypt") throw new TypeError("the hash of the access secret is of an unknown kind");
  const wanted = Buffer.from(key, "base64url");
  const given = await derive(text, Buffer.from(salt, "base64url"), { N: Number(N), r: Number(r), p: Number(p) });
  return sameDigest(given, wanted);
}

function derive(secret: string, salt: Buffer, cost: { readonly N: number; readonly r: number; readonly p: number }): Promise<Buffer> {
  return new Promise((resolve, reject) => scrypt(secret, salt, KEY_BYTES, cost, (error, key) => (error === null ? resolve(key) : reject(error))));
}

function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString("base64url");
}

/** A name that no other process uses. */
function besideOf(file: string): string {
  return `${file}.${randomBytes(6).toString("hex")}.new`;
}

/** Writes the file unless it is there; readers never see half of it. */
function place(folder: string, file: string, secret: string): boolean {
  const beside = besideOf(file);
  try {
    prepareFolder(folder);
    writeFileSync(beside, `${secret}\n`, { mode: 0o600, flag: "wx" });
    return link(beside, file);
  } catch (error) {
    throw unwritable(file, error);
  } finally {
    rmSync(beside, { force: true });
  }
}

/** False: there is such a file. */
function link(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

/** The folder is for this user alone. */
function prepareFolder(folder: string): void {
  makeFolder(folder, 0o700);
  if ((statSync(folder).mode & 0o077) !== 0) chmodSync(folder, 0o700);
}

/** The secret in a file that was there before. A file that others could have read or made is not used. */
function readSecret(file: string): string {
  const found = lstatSync(file);
  const text = found.isFile() ? readFileSync(file, "utf8").trim() : "";
  if (!SECRET.test(text) || (found.mode & 0o077) !== 0 || found.uid !== statSync(dirname(file)).uid) {
    throw new StartError(`${file} is there already and is not an access secret that only you can read; move it away and start again`);
  }
  return text;
}

function unwritable(file: string, error: unknown): StartError {
  return new StartError(`the access secret cannot be written to ${file}: ${error instanceof Error ? error.message : String(error)}`, EXIT.USAGE);
}
