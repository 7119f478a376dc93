/** The model that the command line names, with what its host shows of the catalog. */
import { resolve } from "node:path";
import { createEngine } from "../../runtime/call/engine.js";
import { nearestName } from "../../runtime/base/nearest.js";
import { UsageError, type Invocation, type Io } from "../cli/command.js";
import { programOf } from "../program.js";
import { visible } from "../drafts/untrusted.js";
import type { Plans } from "../ir.js";
import type { Audience } from "./baseline.js";
import { HOST_PROFILES, shownTools, type HostProfile } from "./hosts.js";
import { endpointModel, readScript, scriptedModel, urlProblem, type Shown } from "./model.js";
import type { ChooseTool } from "./run.js";

const SCRIPT = "script:";
/** Variable of the env file that has the key, unless --model-key names another. */
const KEY_VARIABLE = "TOOLSRV_MODEL_API_KEY";
const SERVER = "toolsrv";

export interface OpenedModel {
  readonly choose: ChooseTool;
  readonly audience: Audience;
}

/** Null without --model. @throws UsageError for a model that cannot be asked. */
export async function openModel({ options }: Invocation, { plans, base, env }: { readonly plans: Plans; readonly base: URL; readonly env: ReadonlyMap<string, string> }, io: Io): Promise<OpenedModel | null> {
  const { model } = options;
  const profileName = typeof options["host-profile"] === "string" ? options["host-profile"] : "plain";
  const profile = profileOf(profileName);
  if (typeof model !== "string") {
    const needless = ["model-url", "model-key", "host-profile"].find((name) => options[name] !== undefined);
    if (needless !== undefined) throw new UsageError(`--${needless} goes with --model`);
    return null;
  }
  const server = typeof options["name"] === "string" ? options["name"] : SERVER;
  const engine = createEngine(programOf(plans, { base }), { env, metaTools: profile.metaTools && plans.settings.hardening?.["disable_meta_tools"] !== true, now: () => io.host.monotonic() });
  let shown: Shown;
  try {
    const { tools, leftOut } = await shownTools(engine, profile, server);
    for (const { tool, why } of leftOut) io.stderr.write(`${profileName} does not show ${visible(tool)}: ${visible(why)}\n`);
    shown = { tools };
  } finally {
    await engine.close();
  }
  const choose = model.startsWith(SCRIPT) ? await openScript(model.slice(SCRIPT.length), shown, io) : openEndpoint(model, options, shown, env);
  return { choose, audience: { model, profile: `${profileName}/${server}`, definitions: plans.definitions } };
}

function profileOf(name: string): HostProfile {
  const profile = Object.hasOwn(HOST_PROFILES, name) ? HOST_PROFILES[name] : undefined;
  const meant = nearestName(name, Object.keys(HOST_PROFILES));
  if (profile === undefined) throw new UsageError(`--host-profile is one of ${Object.keys(HOST_PROFILES).join(", ")}, not '${name}'${meant === null ? "" : `; did you mean '${meant}'?`}`);
  return profile;
}

async function openScript(file: string, shown: Shown, io: Io): Promise<ChooseTool> {
  const bytes = await io.host.read(resolve(io.cwd, file));
  if (bytes === null) throw new UsageError(`cannot read '${file}': there is no such file`);
  const script = readScript(Buffer.from(bytes).toString("utf8"));
  if ("problem" in script && typeof script.problem === "string") throw new UsageError(`'${file}' is no script: ${script.problem}`);
  return scriptedModel(script as Exclude<typeof script, { readonly problem: string }>, shown);
}

function openEndpoint(model: string, options: Invocation["options"], shown: Shown, env: ReadonlyMap<string, string>): ChooseTool {
  const url = options["model-url"];
  if (typeof url !== "string") throw new UsageError("--model needs --model-url, the address of an API that speaks chat completions; or --model script:FILE");
  const stated = options["model-key"];
  const apiKey = env.get(typeof stated === "string" ? stated : KEY_VARIABLE) ?? null;
  if (typeof stated === "string" && apiKey === null) throw new UsageError(`--model-key names '${stated}', which the file of --env-file does not have`);
  const problem = urlProblem(url, apiKey !== null);
  if (problem !== null) throw new UsageError(`--model-url: ${problem}`);
  return endpointModel({ model, url, apiKey }, shown);
}
