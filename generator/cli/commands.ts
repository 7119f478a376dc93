/**
 * The command table: what the command line accepts, as data. The shell checks words against it, sade registers it,
 * the help and docs/reference/cli.md are printed from it. A command's code is imported when it runs and not before,
 * so that `validate` never pays for `build`.
 */
import { SERVE_FLAGS } from "../../runtime/config/serve-flags.js";
import type { CommandSpec, OptionSpec } from "./command.js";
import { TRACE_OPTIONS } from "./trace-options.js";

const ENV_FILE: OptionSpec = { name: "env-file", alias: "env", value: "FILE", help: "values for ${VAR}, also as --env; the process environment is not read" };
const JSON_OUT: OptionSpec = { name: "json", help: "same as --format json" };
const CONNECTION: OptionSpec = { name: "connection", value: "NAME", help: "connection of the catalog", required: true };
const COLLECTIONS: OptionSpec = { name: "collections", value: "A,B", help: "only these collections" };
const EXPERIMENTAL: OptionSpec = { name: "experimental", help: "required: this command may still change" };
const CATALOG = { name: "TOOLS.yaml", required: true } as const;

/** Every command that works, in the order of the help. */
export const COMMANDS: readonly CommandSpec[] = [
  {
    name: "init",
    summary: "Write a catalog with sample data to start from",
    args: [{ name: "DIRECTORY", required: false }],
    options: [
      { name: "print-desktop-config", help: "print the JSON block of a desktop host instead" },
      { name: "name", value: "NAME", help: "name of the server (default: the directory's name)" },
    ],
    examples: ["toolsrv init support", "toolsrv init support --print-desktop-config"],
    writes: true,
    load: () => import("./commands/init.js"),
  },
  {
    name: "load",
    summary: "Fill a collection of an embedded sqlite connection",
    args: [CATALOG, { name: "FILE", required: true }],
    options: [
      { name: "connection", value: "NAME", help: "connection of the catalog; must be a sqlite one", required: true },
      { name: "collection", value: "NAME", help: "collection to fill", required: true },
      { name: "id", value: "FIELD", help: "field that identifies a row; loading it again replaces it" },
      { name: "text", value: "F1,F2", help: "fields that are embedded and searched (default: all text)" },
      { name: "snake-case", help: "rename fields: 'IMDB Rating' becomes imdb_rating" },
      { name: "types", value: "F:TYPE,…", help: "dtypes to read fields as, such as released:datetime" },
      { name: "replace", help: "empty the collection first" },
      ENV_FILE,
    ],
    examples: ["toolsrv load tools.yaml rows.jsonl --connection main --collection articles"],
    graceful: true,
    writes: true,
    load: () => import("./commands/load.js"),
  },
  {
    name: "validate",
    summary: "Check catalogs and print every problem with its position",
    args: [{ ...CATALOG, many: true }],
    options: [
      { name: "strict", help: "exit 1 on warnings" },
      ENV_FILE,
      { name: "format", value: "FORMAT", help: "text, json, sarif or github (default text)" },
      JSON_OUT,
      { name: "live", help: "also ask the stores" },
      { name: "live-embed", help: "also ask the embedding provider" },
      { name: "enterprise", help: "apply the production-safe preset" },
      { name: "profile", value: "NAME", help: "apply a preset: enterprise" },
      { name: "policy", value: "FILE.rego", help: "apply a Rego policy" },
      { name: "policy-builtin", value: "LIST", help: "apply enterprise, pci, soc2" },
    ],
    examples: ["toolsrv validate tools.yaml", "toolsrv validate tools.yaml --strict --json"],
    load: () => import("./commands/validate.js"),
  },
  {
    name: "build",
    summary: "Compile catalogs to reviewable TypeScript and a server",
    args: [{ name: "TOOLS.yaml", required: false, many: true }],
    options: [
      { name: "out", value: "DIR", help: "output directory (default out)" },
      { name: "check", help: "write nothing; print a diff and exit 1 if the output is not up to date" },
      { name: "emit", value: "KIND", help: "ts, js or ir (default: TypeScript with JavaScript beside it)" },
      { name: "typecheck", help: "type-check the generated files" },
      { name: "trace", default: true, help: "emit the trace service" },
      { name: "json", help: "print the report as JSON" },
    ],
    examples: ["toolsrv build", "toolsrv build tools.yaml --check", "toolsrv build tools.yaml --emit ir"],
    graceful: true,
    writes: true,
    load: () => import("./commands/build.js"),
  },
  {
    name: "test",
    summary: "Call one tool of a catalog, or probe that its tools keep tenants and documents apart",
    args: [CATALOG, { name: "TOOL_NAME", required: false }],
    options: [
      { name: "args", value: "JSON", help: "arguments of the call (default {})" },
      { name: "show-plan", help: "print the tool's MCP schema and plan to stderr" },
      { name: "isolation", help: "probe every tool on a temporary store: exit 1 where a row crosses, 2 where a tool cannot be probed" },
      { name: "json", help: "with --isolation, print the report as JSON" },
      ENV_FILE,
    ],
    examples: [`toolsrv test tools.yaml search_articles --args '{"query": "refund"}'`, "toolsrv test tools.yaml --isolation"],
    load: () => import("./commands/test.js"),
  },
  {
    name: "serve",
    summary: "Serve catalogs over stdio, or over HTTP with --http",
    args: [{ name: "TOOLS.yaml", required: true, many: true }],
    options: SERVE_FLAGS,
    examples: ["toolsrv serve tools.yaml", "toolsrv serve tools.yaml --http 127.0.0.1:8080 --auth none"],
    graceful: true,
    load: () => import("./commands/serve.js"),
  },
  {
    name: "explain",
    summary: "Show what a tool may do: schema, plan, guard and native query",
    args: [CATALOG, { name: "TOOL", required: true }],
    options: [{ name: "args", value: "JSON", help: "arguments to bind into the query" }, { name: "json", help: "print the explanation as JSON" }, ENV_FILE],
    examples: [`toolsrv explain tools.yaml search_articles --args '{"query": "refund"}'`],
    load: () => import("./commands/explain.js"),
  },
  {
    name: "diff",
    summary: "Class the differences of two catalogs by what they risk",
    args: [{ name: "OLD", required: true }, { name: "NEW", required: true }],
    options: [
      { name: "fail-on", value: "CLASS,…", help: "exit 1 on: additive, behavioural, breaking, isolation-weakening" },
      { name: "format", value: "FORMAT", help: "text, json, sarif or github (default text)" },
    ],
    examples: ["toolsrv diff git:main:tools.yaml tools.yaml --fail-on isolation-weakening"],
    load: () => import("./commands/diff.js"),
  },
  {
    name: "introspect",
    summary: "Write the schema of a connection's collections: fields and types, no rows",
    args: [CATALOG],
    options: [
      CONNECTION,
      { name: "out", value: "FILE", help: "file to write (default schema.json)" },
      COLLECTIONS,
      { name: "redact-examples", help: "leave out every stored value" },
      { name: "audit", help: "print the schema and write nothing" },
      ENV_FILE,
    ],
    examples: ["toolsrv introspect tools.yaml --connection main", "toolsrv introspect tools.yaml --connection main --audit --redact-examples"],
    writes: true,
    load: () => import("./commands/introspect.js"),
  },
  {
    name: "discover",
    summary: "Propose draft tools from the schema of a connection's collections",
    args: [CATALOG],
    options: [CONNECTION, EXPERIMENTAL, COLLECTIONS, { name: "out", value: "FILE", help: "report to write (default tools.discovered.drafts.yaml)" }, ENV_FILE],
    examples: ["toolsrv discover tools.yaml --connection main --experimental"],
    writes: true,
    load: () => import("./commands/discover.js"),
  },
  {
    name: "drift",
    summary: "Compare a schema export with the store, and name the tools that a change affects",
    args: [CATALOG, { name: "SCHEMA.json", required: true }],
    options: [CONNECTION, EXPERIMENTAL, { name: "out", value: "FILE", help: "report to write (default toolsrv-drift.json)" }, ENV_FILE],
    examples: ["toolsrv drift tools.yaml schema.json --connection main --experimental"],
    writes: true,
    load: () => import("./commands/drift.js"),
  },
  {
    name: "drafts",
    summary: "List the drafts of the working directory, or reject one",
    args: [{ name: "COMMAND", required: true }, { name: "NAME", required: false }],
    options: [],
    examples: ["toolsrv drafts list", "toolsrv drafts reject search_bills"],
    graceful: true,
    writes: true,
    load: () => import("./commands/drafts.js"),
  },
  {
    name: "approve",
    summary: "Show what a draft would change, and add it to the catalog",
    args: [{ name: "NAME", required: true }],
    options: [
      { name: "file", value: "FILE", help: "catalog to add the tool to (default tools.yaml)" },
      { name: "approver", value: "USER", help: "who approves (default: the variable USER, else local-user)" },
      { name: "dry-run", help: "show it and write nothing" },
    ],
    examples: ["toolsrv approve search_bills --dry-run", "toolsrv approve search_bills --approver ana"],
    graceful: true,
    writes: true,
    load: () => import("./commands/approve.js"),
  },
  {
    name: "migrate",
    summary: "Rewrite a version 1 catalog as version 2, keeping comments",
    args: [CATALOG],
    options: [
      { name: "from", value: "1", help: "version of the file", required: true },
      { name: "to", value: "2", help: "version to write", required: true },
      { name: "dry-run", help: "print a unified diff and write nothing" },
      { name: "write", help: "rewrite the file" },
    ],
    examples: ["toolsrv migrate tools.yaml --from 1 --to 2 --dry-run"],
    writes: true,
    load: () => import("./commands/migrate.js"),
  },
  {
    name: "schema",
    summary: "Print the JSON Schema of the catalog",
    args: [],
    options: [{ name: "version", value: "1|2", help: "catalog version (default: both)" }],
    examples: ["toolsrv schema > tds.schema.json"],
    load: () => import("./commands/schema.js"),
  },
  {
    name: "auth",
    summary: "Administer --auth builtin: rotate-secret, revoke, doctor",
    args: [{ name: "COMMAND", required: true }, { name: "URL", required: false }],
    options: [
      { name: "auth-store", value: "STORE", help: "where the server keeps its tokens: sqlite or redis (default sqlite)" },
      { name: "redis-url", value: "URL", help: "address of the redis store" },
      { name: "json", help: "print the report of doctor as JSON" },
    ],
    examples: ["toolsrv auth rotate-secret", "toolsrv auth revoke", "toolsrv auth doctor https://tools.example.com/mcp"],
    writes: true,
    load: () => import("./commands/auth.js"),
  },
  {
    name: "trace",
    summary: "Record and look at what agents did: serve, demo, runs, show, watch, diff, stats, export, import, gc, doctor, view",
    args: [{ name: "COMMAND", required: true }, { name: "WORD", required: false, many: true }],
    options: TRACE_OPTIONS,
    examples: ["toolsrv trace serve", "toolsrv trace demo", "toolsrv trace show RUN_ID", "toolsrv trace export --all > traces.jsonl"],
    graceful: true,
    load: () => import("./commands/trace.js"),
  },
];

/** Commands of the specification that this version does not have. */
export const UNAVAILABLE: readonly string[] = ["eval"];
