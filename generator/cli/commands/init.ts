/**
 * `toolsrv init`: a project that loads, builds and serves as it is, offline. Writes only what is not there yet.
 * The files are templates/init/ byte for byte; package.json alone is generated, as it depends on the place.
 */
import { basename, join, resolve } from "node:path";
import type { CommandModule, Io } from "../command.js";
import { UsageError } from "../command.js";
import { EXIT } from "../exit.js";
import { type Installation, lockBeside, nextSteps, packageJson, type ProjectState } from "../init-package.js";
import { packageRoot, packageVersion } from "../package.js";

const CATALOG = "tools.yaml";
const SAMPLE = "data/articles.jsonl";
const PACKAGE = "package.json";

/** Template → place in the project. npm would rename or drop some of the targets inside a package. */
const FILES: readonly (readonly [string, string])[] = [
  ["tools.yaml", CATALOG],
  ["env.example", ".env.example"],
  ["articles.jsonl", SAMPLE],
  ["gitattributes", ".gitattributes"],
  ["gitignore", ".gitignore"],
  ["workflow.yml", ".github/workflows/tools.yml"],
];

export const run: CommandModule["run"] = async ({ args, options }, io) => {
  const shown = args[0] ?? ".";
  const directory = resolve(io.cwd, shown);
  const name = typeof options["name"] === "string" ? options["name"] : basename(directory);
  if (name.trim() === "") throw new UsageError("--name is empty");
  const onlyConfig = options["print-desktop-config"] === true;
  const result = onlyConfig ? io.stderr : io.stdout;

  const state: ProjectState = {
    directory, name,
    hadCatalog: await io.host.exists(join(directory, CATALOG)),
    ownPackage: await readText(join(directory, PACKAGE), io),
  };
  const installation = await findInstallation(io);
  for (const [file, text] of await projectFiles(state, installation, io)) {
    // Sample rows belong to the sample catalog; next to another one they would only be in the way.
    if (file === SAMPLE && state.hadCatalog) continue;
    const path = join(shown, file);
    if (await io.host.exists(join(directory, file))) {
      result.write(`Kept ${path}\n`);
      continue;
    }
    await io.host.write(join(directory, file), text);
    result.write(`Wrote ${path}\n`);
  }

  if (onlyConfig) io.stdout.write(`${JSON.stringify(await desktopConfig(directory, name, io), null, 2)}\n`);
  else if (!state.hadCatalog || state.ownPackage === null) io.stderr.write(nextSteps(shown, state, installation));
  return EXIT.OK;
};

async function readText(path: string, io: Io): Promise<string | null> {
  const bytes = await io.host.read(path);
  return bytes === null ? null : new TextDecoder().decode(bytes);
}

async function findInstallation(io: Io): Promise<Installation> {
  const path = lockBeside(packageRoot);
  const text = path === null ? null : await readText(path, io);
  let lock: unknown = null;
  try {
    if (text !== null) lock = JSON.parse(text);
  } catch {
    // Not npm's; then the folder that this toolsrv runs from is linked.
  }
  return { root: packageRoot, version: packageVersion("toolsrv"), zodVersion: packageVersion("zod"), lock };
}

async function projectFiles(state: ProjectState, installation: Installation, io: Io): Promise<readonly (readonly [string, string | Uint8Array])[]> {
  const files: (readonly [string, string | Uint8Array])[] = [];
  for (const [template, target] of FILES) {
    const bytes = await io.host.read(join(packageRoot, "templates/init", template));
    if (bytes === null) throw new Error(`templates/init/${template} is missing from the package`);
    files.push([target, bytes]);
  }
  return [...files, [PACKAGE, `${JSON.stringify(packageJson(state, installation), null, 2)}\n`]];
}

/** A block for the configuration file of a desktop host. Absolute paths throughout: hosts start servers anywhere. */
async function desktopConfig(directory: string, name: string, io: Io): Promise<unknown> {
  const env = join(directory, (await io.host.exists(join(directory, ".env"))) ? ".env" : ".env.example");
  return {
    mcpServers: {
      [name]: {
        command: process.execPath,
        args: ["--", join(packageRoot, "bin/toolsrv"), "serve", join(directory, CATALOG), "--env-file", env, "--name", name],
      },
      filesystem: { command: "npx", args: ["-y", "@modelcontextprotocol/server-filesystem", directory] },
    },
  };
}
