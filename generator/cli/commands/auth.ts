/** `toolsrv auth`: the operator's side of `--auth builtin`. */
import { join } from "node:path";
import type { AdminOptions } from "../../../runtime/auth/oauth/admin.js";
import { NO_STATE_FOLDER, stateFolder } from "../../../runtime/base/state-folder.js";
import { readAuthStore } from "../../../runtime/config/auth-flags.js";
import { UsageError, type CommandModule, type Invocation, type Io } from "../command.js";
import { EXIT } from "../exit.js";

const TIMELINE = 20;

type Action = (invocation: Invocation, io: Io, options: AdminOptions) => Promise<number>;

const ACTIONS: { readonly [name: string]: Action } = { "rotate-secret": rotateSecret, revoke, doctor };

export const run: CommandModule["run"] = async (invocation, io) => {
  const [name = "", ...rest] = invocation.args;
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (action === undefined) throw new UsageError(`auth takes rotate-secret, revoke or doctor, not '${name}'`);
  if (rest.length > (name === "doctor" ? 1 : 0)) throw new UsageError(`unexpected argument '${rest.at(-1)}'`);
  const { createLog } = await import("../../../runtime/observe/log.js");
  const log = createLog({ format: "text", level: "error", write: (text) => io.stderr.write(text) });
  try {
    return await action(invocation, io, adminOptions(invocation, io, log));
  } catch (error) {
    if (!(error instanceof Error) || !["StoreUnavailable", "StartError"].includes(error.name)) throw error;
    io.stderr.write(`toolsrv auth ${name}: ${error.message}\n`);
    return "exitCode" in error && error.exitCode === EXIT.USAGE ? EXIT.USAGE : EXIT.LIVE;
  } finally {
    await log.flush();
  }
};

async function rotateSecret(_: Invocation, io: Io, options: AdminOptions): Promise<number> {
  const { rotate } = await import("../../../runtime/auth/oauth/admin.js");
  io.stdout.write(`a new access secret is in ${await rotate(options)}; every login has ended\n`);
  return EXIT.OK;
}

async function revoke(_: Invocation, io: Io, options: AdminOptions): Promise<number> {
  const { revokeAll } = await import("../../../runtime/auth/oauth/admin.js");
  io.stdout.write((await revokeAll(options)) ? "every login has ended; clients have to log in again\n" : "there is no login store yet; nothing to revoke\n");
  return EXIT.OK;
}

async function doctor({ args, options: flags }: Invocation, io: Io, options: AdminOptions): Promise<number> {
  const address = args[1];
  if (address !== undefined && !/^https?:\/\//.test(address)) throw new UsageError(`doctor takes the address of a server, such as https://tools.example.com/mcp, not '${address}'`);
  const [{ latestLogins }, { diagnose, loginLine }] = await Promise.all([import("../../../runtime/auth/oauth/admin.js"), import("../../../runtime/auth/oauth/doctor.js")]);
  const diagnosis = address === undefined ? null : await diagnose(address, fetch).catch((error: unknown) => {
    io.stderr.write(`toolsrv auth doctor: ${address} does not answer: ${causeOf(error)}\n`);
    return undefined;
  });
  if (diagnosis === undefined) return EXIT.LIVE;
  const logins = await latestLogins(options, TIMELINE);
  if (flags["json"] === true) {
    io.stdout.write(`${JSON.stringify({ ...diagnosis, logins }, null, 2)}\n`);
  } else {
    if (diagnosis !== null) {
      io.stdout.write(`What ${address} advertises\n${diagnosis.checks.map(({ ok, need, detail }) => `  ${ok ? "ok  " : "FAIL"} ${need.padEnd(28)}${detail}\n`).join("")}\n`);
      io.stdout.write(`Hosts\n${diagnosis.hosts.map(({ host, missing, note }) => `  ${missing.length === 0 ? "ok  " : "FAIL"} ${host.padEnd(28)}${missing.length === 0 ? note : `needs ${missing.join(", ")}`}\n`).join("")}\n`);
    }
    io.stdout.write(logins === null || logins.length === 0 ? "No logins yet\n" : `Last logins (UTC)\n${logins.map((login) => `  ${loginLine(login)}\n`).join("")}`);
  }
  return diagnosis?.checks.some(({ ok }) => !ok) === true ? EXIT.FINDINGS : EXIT.OK;
}

/** The store that `serve` with the same flags uses. */
function adminOptions({ options }: Invocation, io: Io, log: AdminOptions["log"]): AdminOptions {
  const folder = stateFolder(io.env["HOME"]);
  if (folder === null) throw new UsageError(NO_STATE_FOLDER);
  return { store: storeOf(options, folder), stateFolder: folder, log, now: () => io.host.now() };
}

function storeOf(options: Invocation["options"], folder: string): AdminOptions["store"] {
  const store = readAuthStore((flag) => (typeof options[flag] === "string" ? options[flag] : null));
  return store.kind === "redis" ? store : { ...store, file: join(folder, "authstate.db") };
}

function causeOf(error: unknown): string {
  const { cause } = error instanceof Error ? error : { cause: undefined };
  return cause instanceof Error ? cause.message : error instanceof Error ? error.message : String(error);
}
