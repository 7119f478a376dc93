/**
 * The command table: what the command line accepts, as data. The shell checks words against it, sade registers it,
 * the help and docs/reference/cli.md are printed from it. A command's code is imported when it runs and not before,
 * so that `validate` never pays for `build`.
 */
import { SERVE_FLAGS, TWIN_FLAGS } from "../../runtime/config/serve-flags.js";
import type { CommandSpec, OptionSpec } from "./command.js";
import { CATALOG, ENV_FILE } from "./common-options.js";
import { LIFE_COMMANDS } from "./life-commands.js";
import { TRACE_COMMANDS, TRACE_OPTIONS } from "./trace-options.js";

const JSON_OUT: OptionSpec = { name: "json", help: "same as --format json" };

/** What the rows of a twin are made from. */
const TWIN_SCHEMA: OptionSpec = { name: "schema", value: "FILE,…", help: "schema exports that the twin's rows are made from (default schema.json, where there is one)" };
const TWIN_SEED: OptionSpec = { name: "seed", value: "N", help: "whole number that decides the twin's rows and faults (default 1)" };
const SERVED_TWIN: readonly OptionSpec[] = [
  { name: "twin", help: "serve made-up rows instead of the stores: no store, no service and no secret is needed" },
  TWIN_SCHEMA,
  { name: "scenarios", value: "FILE", help: "scenarios that the twin's rows fit" },
  TWIN_SEED,
  ...TWIN_FLAGS,
];

/** Flags of a server on stdio that is there to be reloaded. */
const STDIO_FLAGS: readonly string[] = ["name", "env-file", "embedded", "meta-tools", "negotiate", "log-format", "log-level", "trace", "enable-define", "audit-log", "audit-sink", "audit-url"];
const DEV_FLAGS: readonly OptionSpec[] = SERVE_FLAGS.filter(({ name }) => STDIO_FLAGS.includes(name));

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
    args: [CATALOG, { name: "FILE", required: false }],
    options: [
      { name: "connection", value: "NAME", help: "connection of the catalog; must be a sqlite one", required: true },
      { name: "collection", value: "NAME", help: "collection to fill", required: true },
      { name: "id", value: "FIELD", help: "field that identifies a row; loading it again replaces it" },
      { name: "text", value: "F1,F2", help: "fields that are embedded and searched (default: all text)" },
      { name: "snake-case", help: "rename fields: 'IMDB Rating' becomes imdb_rating" },
      { name: "types", value: "F:TYPE,…", help: "dtypes to read fields as, such as released:datetime" },
      { name: "replace", help: "empty the collection first" },
      { name: "reindex", help: "without FILE: make the indexes that the tools need now, and drop others" },
      ENV_FILE,
    ],
    examples: ["toolsrv load tools.yaml rows.jsonl --connection main --collection articles", "toolsrv load tools.yaml --connection main --collection articles --reindex"],
    graceful: true,
    writes: true,
    load: () => import("./commands/load.js"),
  },
  {
    name: "copy",
    summary: "Copy a sample of a collection, vectors included, into an embedded sqlite file for evals and work offline",
    args: [CATALOG],
    options: [
      { name: "from", value: "CONNECTION", help: "connection of the catalog to read, whatever its backend", required: true },
      { name: "to", value: "FILE", help: "sqlite file to write", required: true },
      { name: "collection", value: "A,B", help: "collections to copy (default: those that the connection's tools read)" },
      { name: "limit", value: "N", help: "most rows of each collection (default 1000)" },
      { name: "where", value: "CONDITION", help: "copy rows that pass: FIELD=VALUE, or JSON as static_filters has it" },
      { name: "text", value: "F1,F2", help: "fields whose words hybrid search finds (default: all text)" },
      { name: "replace", help: "replace the file, if toolsrv has written it" },
      ENV_FILE,
    ],
    examples: ["toolsrv copy tools.yaml --from main --to sample.db --where tenant_id=acme"],
    graceful: true,
    writes: true,
    load: () => import("./commands/copy.js"),
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
      { name: "skill", value: "DIR", help: "also write DIR/SKILL.md, an agent skill named as its folder" },
      { name: "scenarios", value: "FILE", help: "with --skill, take examples from a scenarios file; with --twin, make rows that fit it" },
      { name: "python", value: "DIR", help: "also write a typed Python package that calls the server" },
      { name: "python-name", value: "NAME", help: "what the package is imported as (default toolsrv_catalog)" },
      { name: "twin", value: "DIR", help: "also write a server over made-up rows, which needs no store and no secret" },
      TWIN_SCHEMA,
      TWIN_SEED,
      { name: "json", help: "print the report as JSON" },
    ],
    examples: ["toolsrv build", "toolsrv build tools.yaml --check", "toolsrv build tools.yaml --emit ir", "toolsrv build tools.yaml --python python", "toolsrv build tools.yaml --twin twin"],
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
    options: [...SERVE_FLAGS, ...SERVED_TWIN],
    examples: ["toolsrv serve tools.yaml", "toolsrv serve tools.yaml --http 127.0.0.1:8080 --auth none", "toolsrv serve tools.yaml --twin --fault timeout:search_articles:0.1"],
    graceful: true,
    load: () => import("./commands/serve.js"),
  },
  {
    name: "dev",
    summary: "Serve a catalog while you write it: rebuild, show what each edit changes, and rerun the evals that it touches",
    args: [CATALOG, { name: "SCENARIOS.yaml", required: false }],
    options: [{ name: "out", value: "DIR", help: "output directory of the builds (default out)" }, ...DEV_FLAGS],
    examples: ["toolsrv dev tools.yaml", "toolsrv dev tools.yaml scenarios.yaml --env-file .env"],
    graceful: true,
    load: () => import("./commands/dev.js"),
  },
  {
    name: "explain",
    summary: "Show what a tool may do: schema, plan, guard and native query",
    args: [CATALOG, { name: "TOOL", required: true }],
    options: [{ name: "args", value: "JSON", help: "arguments to bind into the query" }, { name: "json", help: "print the explanation as JSON" }, { name: "live", help: "also ask the store what the query costs" }, ENV_FILE],
    examples: [`toolsrv explain tools.yaml search_articles --args '{"query": "refund"}'`],
    load: () => import("./commands/explain.js"),
  },
  {
    name: "diff",
    summary: "Class the differences of two catalogs by what they risk",
    args: [{ name: "OLD", required: true }, { name: "NEW", required: true }],
    options: [
      { name: "fail-on", value: "CLASS,…", help: "exit 1 on: additive, behavioural, breaking, quality-weakening, isolation-weakening" },
      { name: "format", value: "FORMAT", help: "text, json, sarif or github (default text)" },
    ],
    examples: ["toolsrv diff git:main:tools.yaml tools.yaml --fail-on isolation-weakening"],
    load: () => import("./commands/diff.js"),
  },
  ...LIFE_COMMANDS,
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
    name: "audit",
    summary: "Check audit records that are linked by hashes (observability.audit.chain): verify",
    args: [{ name: "COMMAND", required: true }, { name: "FILE", required: false, many: true }],
    options: [
      { name: "head", value: "HASH", help: "hash of a record that must be there, so that a cut end is found" },
      { name: "json", help: "print the report as JSON" },
    ],
    examples: ["toolsrv audit verify audit.jsonl", "toolsrv audit verify audit.jsonl.1 audit.jsonl --head HASH"],
    load: () => import("./commands/audit.js"),
  },
  {
    name: "trace",
    summary: "Record and look at what agents did",
    args: [{ name: "COMMAND", required: true }, { name: "WORD", required: false, many: true }],
    options: TRACE_OPTIONS,
    commands: TRACE_COMMANDS,
    graceful: true,
    load: () => import("./commands/trace.js"),
  },
];
