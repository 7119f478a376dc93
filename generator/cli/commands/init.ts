/**
 * `toolsrv init`: a project that loads, builds and serves as it is, offline. Writes only what is not there yet.
 * The files are templates/init/ byte for byte; package.json alone is made here, as it depends on the place.
 */
import { basename, join, relative, resolve, sep } from "node:path";
import type { CommandModule, Io } from "../command.js";
import { UsageError } from "../command.js";
import { EXIT } from "../exit.js";
import { packageRoot, packageVersion } from "../package.js";

const CATALOG = "tools.yaml";
const SAMPLE = "data/articles.jsonl";

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

  const hadCatalog = await io.host.exists(join(directory, CATALOG));
  for (const [file, text] of await projectFiles(directory, name, io)) {
    // Sample rows belong to the sample catalog; next to another one they would only be in the way.
    if (file === SAMPLE && hadCatalog) continue;
    const path = join(shown, file);
    if (await io.host.exists(join(directory, file))) {
      result.write(`Kept ${path}\n`);
      continue;
    }
    await io.host.write(join(directory, file), text);
    result.write(`Wrote ${path}\n`);
  }

  if (onlyConfig) io.stdout.write(`${JSON.stringify(await desktopConfig(directory, name, io), null, 2)}\n`);
  else if (!hadCatalog) io.stderr.write(nextSteps(shown));
  return EXIT.OK;
};

async function projectFiles(directory: string, name: string, io: Io): Promise<readonly (readonly [string, string | Uint8Array])[]> {
  const files: (readonly [string, string | Uint8Array])[] = [];
  for (const [template, target] of FILES) {
    const bytes = await io.host.read(join(packageRoot, "templates/init", template));
    if (bytes === null) throw new Error(`templates/init/${template} is missing from the package`);
    files.push([target, bytes]);
  }
  return [...files, ["package.json", `${JSON.stringify(manifest(directory, name), null, 2)}\n`]];
}

function manifest(directory: string, name: string): { readonly [key: string]: unknown } {
  return {
    name: name.toLowerCase().replace(/[^a-z0-9._-]+/g, "-").replace(/^[._-]+|-+$/g, "") || "tools",
    private: true,
    type: "module",
    scripts: {
      load: `toolsrv load ${CATALOG} ${SAMPLE} --connection main --collection articles --id id --text title,body --types updated_at:datetime`,
      validate: `toolsrv validate ${CATALOG} --strict`,
      build: "toolsrv build",
      start: "node out/server.js",
    },
    dependencies: dependencies(directory),
  };
}

/** What out/ imports: published versions, or the way to a checkout and its packages when toolsrv runs from one. */
function dependencies(directory: string): { readonly [name: string]: string } {
  const installed = packageRoot.split(sep).includes("node_modules");
  if (installed) return { toolsrv: `^${packageVersion("toolsrv")}`, zod: `^${packageVersion("zod")}` };
  const link = (path: string): string => `file:${relative(directory, path).split(sep).join("/")}`;
  return { toolsrv: link(packageRoot), zod: link(join(packageRoot, "node_modules/zod")) };
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

function nextSteps(shown: string): string {
  const enter = shown === "." ? "" : `  cd ${/^[\w./-]+$/.test(shown) ? shown : JSON.stringify(shown)}\n`;
  return `\nNext:\n${enter}  npm install\n  npm run load && npm run build && npm start\n`;
}
