/**
 * Finds the uWebSockets.js binary of this machine. Its authors do not publish it on npm, so there are two sources:
 * a `uWebSockets.js` that the user installed from its official repository, then the package `@uwsjs/<platform>-<arch>-
 * <node major>` among our optional dependencies. What fails is explained: these are native binaries, and "module not
 * found" does not say what to do.
 */
import { createRequire } from "node:module";
import type { UwsModule } from "./uws-api.js";

/** Header block that is accepted, in bytes. The default of 4 KiB answers 431 to tokens that identity providers do issue. */
const MAX_HEADER_BYTES = 32_768;

/** What the choice of a binary depends on. */
export interface Machine {
  readonly platform: string;
  readonly arch: string;
  readonly nodeMajor: string;
  /** `null` where the C library is not glibc, or does not say. */
  glibc(): string | null;
  setEnv(name: string, value: string): void;
  hasEnv(name: string): boolean;
  /** @throws what `require` throws. */
  require(name: string): unknown;
}

/** The machine that this process runs on. */
export function thisMachine(): Machine {
  return {
    platform: process.platform,
    arch: process.arch,
    nodeMajor: process.versions.node.split(".")[0] ?? "",
    glibc: () => {
      const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
      return report.header?.glibcVersionRuntime ?? null;
    },
    setEnv: (name, value) => {
      process.env[name] = value;
    },
    hasEnv: (name) => process.env[name] !== undefined,
    require: createRequire(import.meta.url),
  };
}

/**
 * Loads the binary.
 * @throws Error whose message says what to install, when there is none for this machine or it does not load.
 */
export function loadUws(machine: Machine = thisMachine()): UwsModule {
  // The binary reads this once, while it is loaded.
  if (!machine.hasEnv("UWS_HTTP_MAX_HEADERS_SIZE")) machine.setEnv("UWS_HTTP_MAX_HEADERS_SIZE", String(MAX_HEADER_BYTES));
  const packaged = `@uwsjs/${machine.platform}-${machine.arch}-${machine.nodeMajor}`;
  const failures: string[] = [];
  for (const name of ["uWebSockets.js", packaged]) {
    try {
      return machine.require(name) as UwsModule;
    } catch (error) {
      const reason = explainFailure(name, error, machine);
      if (reason !== null) failures.push(reason);
    }
  }
  const found = failures.length === 0 ? "" : ` (${failures.join("; ")})`;
  throw new Error(
    `no uWebSockets.js binary for ${machine.platform} ${machine.arch} with Node ${machine.nodeMajor}${found}; ` +
      `install ${packaged}, or uWebSockets.js from its official source: npm install uNetworking/uWebSockets.js#v20.51.0 (stdio needs neither)`,
  );
}

/** `null` when the package is simply not installed. */
function explainFailure(name: string, error: unknown, machine: Machine): string | null {
  const text = error instanceof Error ? error.message : String(error);
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "MODULE_NOT_FOUND" && text.includes(`'${name}'`)) return null;
  const wanted = /GLIBC_(\d+\.\d+)['`’]? not found/.exec(text)?.[1];
  if (wanted !== undefined) return `${name} needs glibc ${wanted} or newer, this system has ${machine.glibc() ?? "another C library"}`;
  return `${name} does not load: ${text.split("\n")[0]}`;
}
