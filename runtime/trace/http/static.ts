/** The files of the user interface, read once at the start, so that no path of a request ever reaches the disk. */
import { createHash } from "node:crypto";
import { readdir, readFile, stat } from "node:fs/promises";
import { join, sep } from "node:path";
import type { AnyAnswer } from "./answer.js";

const TYPES: { readonly [extension: string]: string } = {
  html: "text/html; charset=utf-8", js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8", svg: "image/svg+xml", png: "image/png", ico: "image/x-icon",
  json: "application/json", webmanifest: "application/manifest+json", map: "application/json", woff2: "font/woff2", txt: "text/plain; charset=utf-8", wasm: "application/wasm",
};

/** What a page of this service may load: its own files and its own service. */
export const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self' ws: wss:; worker-src 'self'; " +
  "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

interface StaticFile {
  readonly type: string;
  readonly etag: string;
  readonly modified: string;
  readonly data: Buffer;
}

export interface StaticFiles {
  /** Answers `path` ("" is index.html) or `null` when there is no such file. */
  answer(path: string, ifNoneMatch: string): AnyAnswer | null;
}

/** Loads a folder; one that does not exist has no files. */
export async function loadStatic(directory: string): Promise<StaticFiles> {
  const files = new Map<string, StaticFile>();
  const entries = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath ?? entry.path, entry.name);
    const data = await readFile(path);
    const name = path.slice(directory.length).split(sep).filter((part) => part !== "").join("/");
    files.set(name, {
      type: TYPES[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream",
      etag: `"${createHash("sha256").update(data).digest("base64url").slice(0, 24)}"`,
      modified: (await stat(path)).mtime.toUTCString(),
      data,
    });
  }
  return {
    answer(path, ifNoneMatch) {
      const file = files.get(decode(path === "" ? "index.html" : path));
      if (file === undefined) return null;
      const headers = [["etag", file.etag], ["last-modified", file.modified], ["cache-control", "no-cache"], ["content-security-policy", PAGE_POLICY]] as const;
      if (ifNoneMatch.split(",").some((tag) => tag.trim().replace(/^W\//, "") === file.etag)) return { status: 304, type: file.type, bytes: "", headers };
      return { status: 200, type: file.type, bytes: file.data, headers };
    },
  };
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
