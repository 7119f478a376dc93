/** `toolsrv drafts list|reject`: the drafts of the working directory. */
import { systemProblem } from "../../../runtime/base/system-error.js";
import { DraftsProblem, pendingOf, withChange } from "../../drafts/drafts-file.js";
import { DRAFTS_FILE, hasErrors, nameOf, type DraftRecord } from "../../drafts/record.js";
import { changeDrafts, expired, expireDrafts, loadDrafts } from "../../drafts/store.js";
import { targetOf } from "../../drafts/guardrails.js";
import { visible } from "../../drafts/untrusted.js";
import { UsageError, type CommandModule, type Io } from "../command.js";
import { EXIT } from "../exit.js";

export const run: CommandModule["run"] = async ({ args }, io) => {
  const [action, name] = args;
  if (action !== "list" && action !== "reject") throw new UsageError(`there is no 'drafts ${visible(action ?? "")}'; say drafts list or drafts reject NAME`);
  if (action === "list" && name !== undefined) throw new UsageError("drafts list takes no name");
  if (action === "reject" && name === undefined) throw new UsageError("drafts reject needs the name of a draft");
  try {
    return name === undefined ? await list(io) : await reject(name, io);
  } catch (error) {
    if (!(error instanceof DraftsProblem)) throw error;
    io.stderr.write(`toolsrv drafts: ${visible(error.message)}\n`);
    return EXIT.USAGE;
  }
};

async function list({ host, cwd, stdout, stderr }: Io): Promise<number> {
  const file = await loadDrafts(host, cwd);
  const records = file === null ? [] : expired(file, host.now()).records;
  if (records.length === 0) stderr.write("no drafts\n");
  for (const record of records) stdout.write(`${lineOf(record)}\n`);
  await noteExpired({ host, cwd, stderr });
  return EXIT.OK;
}

/** Drafts that are too old are listed as expired; where the file cannot be written, they are only listed so. */
async function noteExpired({ host, cwd, stderr }: Pick<Io, "host" | "cwd" | "stderr">): Promise<void> {
  try {
    await expireDrafts(host, cwd);
  } catch (error) {
    const problem = systemProblem(error);
    if (problem === null) throw error;
    stderr.write(`toolsrv drafts: expired drafts were not marked: ${problem}\n`);
  }
}

/** The state in ten columns, the name, then what it reads and what is wrong with it. */
function lineOf(record: DraftRecord): string {
  const { status, tool, issues, created_at: created } = record;
  const target = targetOf(tool);
  const notes = [
    `${String(tool["kind"] ?? "search")}${target === null ? "" : ` ${target.connection}/${target.collection}`}`,
    ...(created === null ? [] : [`proposed ${created.slice(0, 10)}`]),
    ...(hasErrors(issues) ? ["has errors"] : issues.some(({ severity }) => severity === "warning") ? ["to read closely"] : []),
  ];
  return visible(`${status.padEnd(10)} ${nameOf(record)}  ${notes.join(", ")}`);
}

async function reject(name: string, { host, cwd, stderr }: Io): Promise<number> {
  if ((await loadDrafts(host, cwd)) === null) throw new DraftsProblem(`there is no ${DRAFTS_FILE} here, and so no draft '${name}'`);
  await expireDrafts(host, cwd);
  await changeDrafts(host, cwd, (file) => {
    if (file === null) throw new DraftsProblem(`${DRAFTS_FILE} is gone`);
    return { text: withChange(file, pendingOf(file, name).index, { status: "rejected" }), result: undefined };
  });
  stderr.write(`rejected ${visible(name)}\n`);
  return EXIT.OK;
}
