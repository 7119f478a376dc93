/** The record of the last build into a folder, opened for the catalogs of this one; what it holds is 5-emit/build-cache.ts. */
import { dirname, join } from "node:path";
import type { BuildInputs, Outcome } from "../5-emit/build-cache.js";
import type { WrittenFile } from "../5-emit/write.js";
import type { Io } from "../cli/command.js";
import { packageRoot, packageVersion } from "../cli/package.js";
import { readCertificates } from "./certificates.js";
import { baseUrl, outputFolder, type Catalog, type Order } from "./order.js";

/** What the compiler is made of beside its own code. */
const USED_PACKAGES = ["toolsrv", "yaml", "zod", "handlebars", "esbuild"] as const;

/** What is known of earlier builds into the same folder. */
export interface Records {
  /** The catalogs as they were read once and for all, in order. */
  readonly bytes: readonly Uint8Array[];
  /** Their recall certificates, read at the same time. */
  readonly certificates: readonly (string | null)[];
  /** The output folder, absolute. */
  readonly out: string;
  /** The last build, when nothing has changed since. */
  find(): Promise<Outcome | null>;
  keep(outcome: Outcome): Promise<void>;
}

/** The records of earlier builds; null where there is no home folder to keep them in, or a catalog cannot be read. */
export async function openRecords(order: Order, catalogs: readonly Catalog[], packages: readonly string[], io: Io): Promise<Records | null> {
  const userHome = io.env["HOME"] ?? io.env["USERPROFILE"] ?? "";
  const read = await Promise.all(catalogs.map(({ path }) => io.host.read(path).catch(() => null)));
  const bytes = read.filter((each) => each !== null);
  if (userHome === "" || bytes.length < read.length) return null;
  const certificates = await readCertificates(catalogs, io.host);
  const { digestInputs, recordFolder, remember, sameAsBefore } = await import("../5-emit/build-cache.js");
  const out = await outputFolder(order, catalogs, io);
  const folder = recordFolder(userHome);
  const inputs: BuildInputs = {
    catalogs: await Promise.all(catalogs.map(async ({ shown, path, isInstalled }, index) => ({
      catalog: shown, bytes: bytes[index] ?? new Uint8Array(), certificate: certificates[index] ?? null, packages: packages.filter(isInstalled),
      base: baseUrl(out, dirname(await io.host.realPath(path))),
    }))),
    emission: order.emit, trace: order.trace,
    versions: Object.fromEntries(USED_PACKAGES.map((name) => [name, packageVersion(name)])),
    templates: join(packageRoot, "templates"),
  };
  const digest = await digestInputs(io.host, inputs);
  return {
    bytes, certificates, out,
    find: () => sameAsBefore(io.host, folder, out, digest),
    keep: async (outcome) => {
      // The compiler may have been replaced while it ran: then nobody knows what made this output.
      if ((await digestInputs(io.host, inputs)) === digest) await remember(io.host, folder, { out, inputs: digest, outcome });
    },
  };
}

/** Digests of what was written, by path. */
export function digestsOf(files: readonly WrittenFile[]): Outcome["files"] {
  return Object.fromEntries(files.flatMap(({ path, digest }) => (digest === null ? [] : [[path, digest]])));
}
