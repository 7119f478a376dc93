/**
 * Who may import whom. test/layout.test.ts checks every import of the repository with these rules and keeps the table of
 * docs/architecture.md equal to `rulesTable()`.
 */

export interface Rule {
  /** Files the rule is about; of several that match, the first one counts. */
  readonly files: string;
  /** Folder whose files they may import too, as a number of path segments; 0 means no other file. */
  readonly room: 0 | 1 | 2 | 3;
  /** Files of other rooms that they may import. */
  readonly may: readonly string[];
  /** Files that they may import as types only. */
  readonly mayTypes?: readonly string[];
  /** Files that they may import by `await import()`, or as types. */
  readonly mayLater?: readonly string[];
  /** Packages they may import; Node's own modules are free. */
  readonly packages: readonly string[] | "any";
  readonly because: string;
}

/** Published as toolsrv/runtime/v1; files of the repository import the file that has the name. */
export const PUBLIC_ABI = "runtime/abi/index.ts";
/** The abi, and the pure helpers below it, which every room may use. */
const ABI = "runtime/{abi,base}/*.ts";
/** Rooms with a folder for each provider. */
const PROVIDERS = "runtime/{embed,rerank,expand}";
const DESCRIPTORS = "runtime/{adapters,embed,rerank,expand,secrets}/descriptors.ts";
/** Compiler files that belong to no phase. */
const SHARED = "generator/{ir,diagnostics,host,bug,expression,dates,literal-reader}.ts";

export const RULES: readonly Rule[] = [
  {
    files: PUBLIC_ABI, room: 2, may: ["runtime/call/**", "runtime/serve/**"], packages: ["zod"],
    because: "it re-exports, by an explicit list, what generated code may use",
  },
  {
    files: "runtime/base/*.ts", room: 2, may: [], packages: ["re2js", "better-sqlite3"],
    because: "pure helpers that know no other room",
  },
  {
    files: "runtime/abi/*.ts", room: 2, may: ["runtime/base/*.ts"], mayTypes: ["runtime/adapters/adapter.ts", "runtime/{embed/embedder,expand/expander,rerank/reranker}.ts"], packages: ["zod"],
    because: "what the compiler and the runtime share",
  },
  {
    files: "runtime/config/*.ts", room: 2, may: [ABI, "runtime/observe/log.ts"], mayTypes: ["runtime/auth/service.ts", "runtime/observe/audit/settings.ts"], packages: ["smol-toml", "yaml"],
    because: "flags, env files and settings are read in one place, for both servers and the command line; yaml is loaded for a settings file only",
  },
  {
    files: "runtime/auth/*.ts", room: 0, may: [ABI, "runtime/transport/types.ts", "runtime/auth/*.ts", "runtime/observe/log.ts", "runtime/config/exit.ts"], packages: ["jose"],
    because: "authentication decides on the head of a request and knows no route; the files of a mode are loaded when it runs",
  },
  {
    files: "runtime/auth/oauth/**", room: 3, may: [ABI, "runtime/transport/types.ts", "runtime/auth/*.ts", "runtime/observe/log.ts", "runtime/config/exit.ts", "runtime/http/errors.ts"], packages: ["jose", "zod", "better-sqlite3", "redis"],
    because: "the built-in authorization server is one mode behind the interface of the room",
  },
  {
    files: "runtime/http/*.ts", room: 2, may: [ABI, "runtime/transport/types.ts", "runtime/auth/*.ts"], packages: [],
    because: "what both servers do before their own routes; it knows neither tools nor traces",
  },
  {
    files: "runtime/adapters/*.ts", room: 0, may: [ABI, "runtime/adapters/*.ts", "runtime/adapters/*/descriptor.ts"], mayLater: ["runtime/adapters/*/{index,native}.ts"], packages: [],
    because: "a backend is loaded when a catalog names it",
  },
  {
    files: "runtime/adapters/*/**", room: 3, may: [ABI, "runtime/adapters/*.ts"], packages: "any",
    because: "a backend knows its interface, never another backend, call or mcp",
  },
  {
    files: `${PROVIDERS}/*.ts`, room: 0, may: [ABI, `${PROVIDERS}/*.ts`, `${PROVIDERS}/*/descriptor.ts`], packages: [],
    because: "descriptors are pure; what does the work is loaded by its descriptor when a catalog names it",
  },
  {
    files: `${PROVIDERS}/*/**`, room: 3, may: [ABI, `${PROVIDERS}/*.ts`], packages: "any",
    because: "a provider knows its interface, never another provider, call or mcp",
  },
  {
    files: "runtime/secrets/*.ts", room: 0, may: [ABI, "runtime/secrets/*.ts", "runtime/secrets/*/descriptor.ts", "runtime/adapters/descriptors.ts"], mayTypes: ["runtime/adapters/adapter.ts"], packages: [],
    because: "a provider of credentials is loaded when a connection names it",
  },
  {
    files: "runtime/secrets/*/**", room: 3, may: [ABI, "runtime/secrets/*.ts"], packages: "any",
    because: "a provider of credentials knows its interface, never another one, stores or calls",
  },
  {
    files: "runtime/{access,limits,observe}/**", room: 2, may: [ABI], packages: "any",
    because: "decisions and logging without knowledge of calls or protocols",
  },
  {
    files: "runtime/call/**", room: 2,
    may: [ABI, "runtime/adapters/{adapter,capabilities}.ts", "runtime/{embed/embedder,expand/expander,rerank/reranker}.ts", "runtime/{access,limits,observe}/**"],
    mayLater: ["runtime/{embed,expand,rerank}/table.ts", "runtime/secrets/*.ts"],
    packages: ["zod"],
    because: "a call knows interfaces, never a concrete backend, transport or mcp",
  },
  {
    files: "runtime/mcp/**", room: 2, may: [ABI, "runtime/call/**", "runtime/observe/**"], packages: ["zod"],
    because: "the protocol is the same on every transport",
  },
  { files: "runtime/transport/**", room: 2, may: [], packages: "any", because: "a transport moves bytes" },
  {
    files: "runtime/trace-ui/**", room: 2, may: ["runtime/trace/messages/*.ts", "runtime/trace/sample.ts"], mayTypes: ["runtime/trace/api.types.gen.ts"], packages: ["preact", "preact/hooks", "@preact/signals", "vite", "micromark", "uplot", "uplot/dist/uPlot.min.css", "@dagrejs/dagre"],
    because: "the pages run in a browser and share only types, the message normaliser and the sample with the service",
  },
  {
    files: "runtime/trace/**", room: 2, may: [ABI, "runtime/transport/types.ts", "runtime/{observe,http,auth,config}/**"], mayTypes: ["runtime/tracer/sink.ts"], packages: ["better-sqlite3", "pg", "pg-copy-streams", "zod"],
    because: "the service shares rooms with the tool server and never knows call or mcp",
  },
  {
    files: "runtime/tracer/**", room: 2, may: [ABI, "runtime/observe/arguments.ts"], packages: [],
    because: "a client library: it sends events to a service and imports no part of it",
  },
  {
    files: "runtime/client/**", room: 2, may: [ABI], packages: [],
    because: "a client library: it reads answers of a server and imports no part of it",
  },
  {
    files: "runtime/twin/**", room: 2, may: [ABI, "runtime/call/handlers.ts", "runtime/adapters/{adapter,descriptors}.ts", "runtime/embed/{descriptors,embedder,table}.ts", "runtime/config/serve-flags.ts"], packages: ["zod"],
    because: "a compiled program over made-up rows; it opens no store and knows no transport",
  },
  {
    files: "runtime/serve/**", room: 2, may: ["runtime/**"], packages: ["zod", "smol-toml"],
    because: "composition of the runtime; nothing in it knows the generator",
  },
  {
    files: SHARED, room: 0, may: [ABI, SHARED], mayTypes: ["generator/1-parse/tds.gen.ts"], packages: ["yaml"],
    because: "what all phases share; it knows no phase except the generated types of the catalog",
  },
  {
    files: "generator/3-check/**", room: 2, may: [ABI, SHARED, "runtime/adapters/capabilities.ts", DESCRIPTORS],
    mayTypes: ["runtime/adapters/adapter.ts"], packages: ["yaml", "zod"],
    because: "a phase knows no other phase; check runs the adapters' own filter compilers",
  },
  {
    files: "generator/5-emit/gen-templates.ts", room: 2, may: ["generator/cli/exit.ts"], packages: ["handlebars"],
    because: "a script of `make gen`, not a part of the phase",
  },
  {
    files: "generator/5-emit/**", room: 2, may: [ABI, SHARED, "generator/edit/unified-diff.ts"], packages: ["handlebars", "handlebars/runtime.js", "esbuild", "ts-morph", "typescript"],
    because: "a phase knows no other phase",
  },
  {
    files: "generator/1-parse/gen-types.ts", room: 2, may: [SHARED, "generator/cli/exit.ts"], packages: ["json-schema-to-typescript"],
    because: "a script of `make gen`, not a part of the phase",
  },
  {
    files: "generator/trace-cli/gen-*.ts", room: 2, may: [SHARED, "generator/1-parse/openapi.ts", "generator/cli/exit.ts"], packages: ["openapi-typescript", "typescript", "yaml", "zod"],
    because: "a script of `make gen`, not a part of a command",
  },
  {
    files: "generator/trace-cli/**", room: 2, may: [ABI, "generator/cli/{command,exit}.ts", "runtime/trace/**", "runtime/serve/**"], packages: ["better-sqlite3"],
    because: "the trace commands use the trace service's own store",
  },
  {
    files: "generator/{1-parse,2-resolve,4-plan}/**", room: 2, may: [ABI, SHARED, DESCRIPTORS], packages: ["yaml", "zod"],
    because: "a phase knows no other phase",
  },
  {
    files: "generator/proof/**", room: 2, may: [ABI, "generator/literal-reader.ts", "generator/1-parse/schema.gen.ts", "runtime/adapters/capabilities.ts"], mayTypes: ["generator/ir.ts"], packages: ["yaml"],
    because: "the proof shares no code with the phases whose output it checks",
  },
  {
    files: "generator/compile.ts", room: 0, may: [ABI, SHARED, "runtime/config/env-file.ts", "generator/{1-parse,2-resolve,3-check,4-plan,proof}/**"], packages: [],
    because: "it runs phases 1 to 4 and the proof; only build emits",
  },
  {
    files: "generator/projects.ts", room: 0, may: [ABI, SHARED], mayTypes: ["generator/compile.ts"], packages: [],
    because: "rules between compiled catalogs; it compiles nothing itself",
  },
  {
    files: "generator/{connect,call-context,index}.ts", room: 0,
    may: [ABI, SHARED, "generator/{compile,program,connect,call-context}.ts", "generator/frameworks/toolset.ts"], mayLater: ["runtime/call/engine.ts", "runtime/serve/observability.ts"], packages: [],
    because: "the library compiles, calls and observes its calls; it knows no command and no transport",
  },
  {
    files: "generator/frameworks/**", room: 2, may: [ABI, SHARED, "generator/{connect,call-context}.ts"],
    packages: ["@anthropic-ai/sdk/helpers/beta/json-schema", "@anthropic-ai/sdk/lib/tools/BetaRunnableTool", "@anthropic-ai/sdk/lib/tools/ToolError", "@anthropic-ai/sdk/resources/messages", "@langchain/core/messages", "@langchain/core/tools", "@openai/agents", "ai"],
    because: "a framework is one file over the library; its package is the application's and loads when its format is used",
  },
  {
    files: "generator/program.ts", room: 0, may: [ABI, SHARED], mayLater: ["runtime/call/handlers.ts", "runtime/adapters/table.ts"], packages: [],
    because: "an in-memory program loads the runtime when a tool is called",
  },
  {
    files: "generator/{diff,edit,explain,load,migrate,printers}/**", room: 2,
    may: [ABI, SHARED, "generator/compile.ts", "generator/edit/**", "generator/cli/{command,exit}.ts", "runtime/adapters/*.ts", "runtime/adapters/sqlite/**", "runtime/embed/**", "runtime/rerank/descriptors.ts"],
    packages: ["yaml", "better-sqlite3", "sqlite-vec"],
    because: "feature rooms are pure logic beside the phases and know no command",
  },
  {
    files: "generator/drafts/**", room: 2,
    may: [ABI, SHARED, "generator/compile.ts", "generator/edit/**", "generator/diff/**", "generator/proof/stock-yaml.ts"],
    mayTypes: ["runtime/adapters/adapter.ts"], packages: ["yaml"],
    because: "drafts are judged by the compiler, diff and proof that judge the catalog itself; it knows no command and no transport",
  },
  {
    files: "generator/schema/**", room: 2,
    may: [ABI, SHARED, "generator/compile.ts", "generator/3-check/rule.ts", "generator/cli/command.ts", "generator/drafts/untrusted.ts", "generator/load/progress.ts", "generator/printers/print.ts", "runtime/adapters/*.ts"], mayLater: ["runtime/secrets/*.ts"], packages: ["zod"],
    because: "what stores say of their collections, and what a change of it means for tools",
  },
  {
    files: "generator/discover/**", room: 2,
    may: [ABI, SHARED, "generator/compile.ts", "generator/schema/*.ts", "generator/drafts/{record,guardrails}.ts", "runtime/adapters/capabilities.ts"], packages: ["yaml"],
    because: "proposes drafts from a schema; what it proposes is compiled before it is written",
  },
  {
    files: "generator/eval/**", room: 2,
    may: [ABI, SHARED, "generator/{compile,connect,program}.ts", "generator/1-parse/{shape,schema-node,yaml}.ts", "generator/cli/{command,write-output}.ts", "generator/drafts/untrusted.ts", "generator/printers/print.ts", "runtime/call/**", "runtime/mcp/**", "runtime/observe/log.ts"], packages: ["yaml", "zod"],
    because: "scenarios run through the library's connection, and a model sees the list that the server sends",
  },
  {
    files: "generator/twin/**", room: 2,
    may: [ABI, SHARED, "generator/compile.ts", "generator/cli/command.ts", "generator/diff/implication.ts", "generator/eval/{open-scenarios,scenarios}.ts", "generator/isolation/values.ts", "generator/schema/{export,uses}.ts", "runtime/twin/{random,rows}.ts"], packages: [],
    because: "makes the rows of a twin; what reads them is runtime/twin",
  },
  {
    files: "generator/recall/**", room: 2, may: [ABI, SHARED, "runtime/call/**"], mayTypes: ["generator/compile.ts", "runtime/adapters/adapter.ts"], packages: [],
    because: "it asks stores as a call does, twice, and keeps numbers only",
  },
  {
    files: "generator/copy/**", room: 2, may: [ABI, SHARED, "generator/compile.ts", "generator/load/{convert,indexes,target,writer}.ts", DESCRIPTORS], mayTypes: ["runtime/adapters/{adapter,descriptor}.ts"], packages: [],
    because: "it reads by an adapter and writes by the writer of load; it embeds nothing",
  },
  {
    files: "generator/isolation/**", room: 2,
    may: [ABI, SHARED, "generator/program.ts", "generator/load/writer.ts", "generator/proof/{written,stock-yaml}.ts", "runtime/adapters/*.ts", DESCRIPTORS, "runtime/embed/*.ts", "runtime/call/**", "runtime/mcp/**", "runtime/observe/log.ts", "runtime/twin/alone.ts"], packages: [],
    because: "the probe calls a compiled program as a client would, and takes what it demands from the proof's reading of the catalog",
  },
  {
    files: "generator/build/**", room: 2,
    may: [ABI, SHARED, "generator/cli/{command,exit,package}.ts", "generator/edit/unified-diff.ts"], mayTypes: ["generator/compile.ts", "generator/{5-emit,proof}/**"],
    mayLater: ["generator/{compile,program,projects}.ts", "generator/{5-emit,eval,explain,printers,proof,twin}/**", "generator/3-check/packages.ts", "generator/recall/certificate.ts", "generator/1-parse/openapi.ts", "runtime/adapters/table.ts", "runtime/trace/api.gen.ts"],
    packages: [],
    because: "what a build writes and says; its heavy parts load when they are needed",
  },
  {
    files: "generator/serve/**", room: 2,
    may: [ABI, SHARED, "runtime/config/*.ts", "generator/{compile,program,projects}.ts", "generator/build/certificates.ts", "generator/cli/{command,exit,package}.ts", "generator/drafts/*.ts", "generator/printers/print.ts"],
    mayTypes: ["runtime/serve/*.ts"], mayLater: ["generator/5-emit/*.ts", "generator/explain/traced.ts", "generator/twin/open.ts", "runtime/{config,serve}/**"], packages: [],
    because: "compiles catalogs and hands them to the runtime, for the commands that serve",
  },
  {
    files: "generator/dev/**", room: 2,
    may: [ABI, SHARED, "generator/cli/{command,exit}.ts", "generator/build/{build,order}.ts", "generator/diff/*.ts", "generator/eval/*.ts"], mayTypes: ["generator/compile.ts", "generator/serve/*.ts"], packages: [],
    because: "what happens beside serving after each edit: it puts other rooms in order and knows no command",
  },
  {
    files: "generator/reference/**", room: 2,
    may: [ABI, SHARED, "generator/1-parse/{schema.gen,schema-node}.ts", "generator/cli/{command,commands,exit,usage}.ts", "runtime/adapters/capabilities.ts", DESCRIPTORS], packages: [],
    because: "docs/reference/ is generated from the tables that the code uses",
  },
  {
    files: "generator/cli/commands/**", room: 0,
    may: [ABI, SHARED, "runtime/config/*.ts", "generator/cli/*.ts", "generator/{compile,connect,program,projects}.ts", "generator/{build,copy,dev,diff,discover,drafts,edit,eval,explain,load,migrate,printers,schema,serve}/**"],
    mayLater: ["generator/{5-emit,proof,isolation,recall,twin}/**", "generator/3-check/**", "generator/1-parse/openapi.ts", "generator/trace-cli/**", "runtime/**"],
    packages: [],
    because: "a command loads heavy parts by await import(), and no other command",
  },
  {
    files: "generator/cli/*.ts", room: 0, may: [ABI, "runtime/config/*.ts", "generator/host.ts", "generator/cli/*.ts"], mayLater: ["generator/cli/commands/*.ts"], packages: ["sade"],
    because: "the shell loads the command that runs",
  },
  {
    files: "out/**", room: 1, may: [], packages: ["zod", "toolsrv/runtime/v1", "toolsrv/runtime/v1/adapters/*"],
    because: "generated code uses the published runtime and zod",
  },
];

/** The rules as a Markdown table, in their order: of several that match a file, the first one counts. */
export function rulesTable(): string {
  const rows = RULES.map(({ files, room, may, mayTypes = [], mayLater = [], packages, because }) => {
    const code = (globs: readonly string[]): string => globs.map(nameOf).join(", ");
    const imports = [
      ...(room > 0 ? ["own folder"] : []),
      ...(may.length > 0 ? [code(may)] : []),
      ...(mayTypes.length > 0 ? [`types of ${code(mayTypes)}`] : []),
      ...(mayLater.length > 0 ? [`later ${code(mayLater)}`] : []),
    ];
    const of = packages === "any" ? "any" : packages.join(", ");
    return `| ${nameOf(files)} | ${imports.join("; ") || "nothing"} | ${of} | ${because} |`;
  });
  return ["| Files | May import | Packages | Why |", "|---|---|---|---|", ...rows].join("\n");
}

/** Groups by their names, other globs as code. */
function nameOf(glob: string): string {
  return glob === ABI ? "abi, base" : glob === SHARED ? "shared" : `\`${glob}\``;
}
