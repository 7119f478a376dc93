/**
 * Full type-check of generated text, with the runtime's own types. Whatever it finds is a bug of the templates or of a
 * check that let a catalog through, never the user's mistake. Costs seconds: only --check, --typecheck and tests load it.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { CompilerBug } from "../bug.js";

/** What generated code uses of its platform, for machines without the types of Node.js. */
const PLATFORM = `
declare const process: { readonly argv: string[] };
declare class URL { constructor(url: string, base?: string); }
interface ImportMeta { readonly url: string }
`;

/** Folder that holds runtime/: the repository, or dist/ of the package. */
const home = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/** @throws CompilerBug naming file, line and message of every type error. */
export async function typecheck(files: ReadonlyMap<string, string>): Promise<void> {
  const { Project, ts } = await import("ts-morph");
  const nodeTypes = nodeTypeRoot();
  const project = new Project({
    skipAddingFilesFromTsConfig: true,
    compilerOptions: {
      target: ts.ScriptTarget.ES2023, module: ts.ModuleKind.ESNext,
      // NodeNext would ask the disk which kind of module each file is, and these files are not there.
      moduleResolution: ts.ModuleResolutionKind.Bundler,
      lib: ["lib.es2023.d.ts"],
      // Looked for beside the package: TypeScript itself would start at the current directory.
      types: nodeTypes === null ? [] : ["node"], typeRoots: nodeTypes === null ? [] : [nodeTypes],
      strict: true, noUncheckedIndexedAccess: true, exactOptionalPropertyTypes: true, verbatimModuleSyntax: true, noUnusedParameters: true,
      skipLibCheck: true, noEmit: true,
      paths: {
        "toolsrv/runtime/v1": [typesOf("runtime/abi/index")],
        "toolsrv/runtime/v1/adapters/*": [typesOf("runtime/adapters/*/index", "runtime/adapters/sqlite/index")],
      },
    },
  });
  // In the package's own folder, so that zod is found where the package finds it. Nothing is saved.
  const folder = join(home, ".generated");
  if (nodeTypes === null) project.createSourceFile(join(folder, "platform.d.ts"), PLATFORM);
  const sources = [...files]
    .filter(([path]) => path.endsWith(".ts"))
    .map(([path, text]) => ({ path, source: project.createSourceFile(join(folder, path), text) }));
  const errors = sources.flatMap(({ path, source }) =>
    source.getPreEmitDiagnostics().map((diagnostic) => {
      const message = diagnostic.getMessageText();
      return `${path}:${diagnostic.getLineNumber() ?? 1}: ${typeof message === "string" ? message : message.getMessageText()}`;
    }),
  );
  if (errors.length > 0) throw new CompilerBug(`generated code does not type-check: ${errors.join("; ")}`);
}

/** Types of a module of ours: its source, or the declarations beside its script. */
function typesOf(module: string, sample = module): string {
  const extension = existsSync(join(home, `${sample}.d.ts`)) ? ".d.ts" : ".ts";
  return join(home, `${module}${extension}`);
}

/** The folder that holds the types of Node.js, when they are installed. */
function nodeTypeRoot(): string | null {
  try {
    return dirname(dirname(createRequire(import.meta.url).resolve("@types/node/package.json")));
  } catch {
    return null;
  }
}
