/**
 * One folder for each diagnostic: golden/diagnostics/<CODE>[-variant]/{tools.yaml, case.json?, .env?, expected.json}.
 * Which folders and files exist is compared before what they hold. UPDATE=1 rewrites expected.json.
 */
import { existsSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import assert from "node:assert/strict";
import { CODES } from "../../runtime/abi/codes.js";
import { analyze, compile } from "../../generator/compile.js";
import { parseEnvFile } from "../../runtime/config/env-file.js";
import { locateAll } from "../../generator/diagnostics.js";
import type { LocatedDiagnostic } from "../../generator/ir.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";

const test = suite("golden diagnostics");
const HOME = repo("test/golden/diagnostics");

interface Case {
  /** What the catalog is compiled for; "describe" accepts everything the language has. */
  readonly target?: "serve" | "build" | "describe";
  readonly enterprise?: boolean;
  readonly packs?: readonly string[];
  /** Optional packages that count as installed. */
  readonly installed?: readonly string[];
}

/** Codes without a folder, and why. */
const WITHOUT_CASE: { readonly [code: string]: string } = {
  TS0002: "needs a file that is missing: test/phases/validate.test.ts",
  TS0004: "needs a file of a megabyte: test/phases/parse.test.ts",
  TS0006: "needs a file that would fill pages: test/phases/parse.test.ts",
  TS0011: "needs bytes that are no text: test/phases/validate.test.ts",
  TS0012: "needs a thousand problems: test/phases/parse.test.ts",
  TS0013: "needs a file of half a megabyte: test/phases/parse.test.ts",
  TS0040: "about an env file, not a catalog: test/serve/start.test.ts",
  TS0220: "needs a second catalog: test/emit/projects.test.ts",
  TS0701: "about scenarios, not a catalog: test/eval/scenarios.test.ts",
  TS0702: "about scenarios, not a catalog: test/eval/scenarios.test.ts",
  TS0703: "about scenarios, not a catalog: test/eval/scenarios.test.ts",
  VB2017: "only a store can tell: test/phases/live.test.ts",
  TS0254: "only a provider can tell: test/embed/space.test.ts",
  TS0255: "only a store can tell: test/load/indexes.test.ts",
  VB2018: "only a store can tell: test/phases/live.test.ts",
  VB2026: "only a store can tell: test/phases/live.test.ts",
  VB4003: "only a store can tell: test/phases/live.test.ts",
  VB4004: "only a store can tell: test/phases/live.test.ts",
  VB4001: "a warning of a call's result",
  VB4002: "a warning of a call's result",
  VB4010: "an error of a call",
  VB4020: "a warning of a call's result",
  VB4030: "a warning of a call's result",
  VB4031: "a warning of a call's result",
  VE006: "a property of serving: test/serve/auth-flags.test.ts",
  POL000: "needs a program that is missing: test/phases/validate.test.ts",
  TS0601: "about a draft, not a catalog: test/drafts/hostile.test.ts",
  TS0602: "about a draft, not a catalog: test/drafts/hostile.test.ts",
  TS0603: "about a draft, not a catalog: test/drafts/hostile.test.ts",
  TS0604: "about a draft, not a catalog: test/drafts/hostile.test.ts",
  TS0605: "about a draft, not a catalog: test/drafts/hostile.test.ts",
  TS0606: "about a draft, not a catalog: test/drafts/hostile.test.ts",
  TS0607: "about a draft, not a catalog: test/drafts/hostile.test.ts",
  TS0608: "about a draft, not a catalog: test/drafts/hostile.test.ts",
  TS0291: "about the file beside a catalog: test/recall/certificate.test.ts",
  TS0292: "only a store can tell: test/recall/certificate.test.ts",
  TS0401: "needs a planner that loses a guard: test/proof/guard.test.ts",
};

const RUNTIME_ONLY = new Set([
  "invalid_arguments", "auth_error", "rate_limited", "timeout", "backend_unreachable", "embedding_error", "schema_drift", "expr_error", "tds_invalid", "internal", "cancelled",
]);

const folders = readdirSync(HOME).sort();

test("every code has a case or a written reason, and no reason is stale", () => {
  const covered = new Set(folders.map((folder) => folder.replace(/-.*$/, "")));
  const codes = Object.keys(CODES).filter((code) => !RUNTIME_ONLY.has(code));
  assert.deepEqual(codes.filter((code) => !covered.has(code) && !(code in WITHOUT_CASE)), [], "codes without a case");
  assert.deepEqual(Object.keys(WITHOUT_CASE).filter((code) => covered.has(code) || !codes.includes(code)), [], "stale reasons");
  assert.deepEqual([...covered].filter((code) => !codes.includes(code)), [], "folders of unknown codes");
});

for (const folder of folders) {
  const files = readdirSync(`${HOME}/${folder}`).sort();
  const at = (name: string): string => `${HOME}/${folder}/${name}`;

  test(`${folder} has the files of a case`, () => {
    assert.deepEqual(files.filter((name) => !["tools.yaml", "case.json", ".env", "expected.json"].includes(name)), []);
    assert.ok(files.includes("tools.yaml") && (process.env["UPDATE"] === "1" || files.includes("expected.json")));
  });

  test(`${folder} reports what it should`, () => {
    const setup: Case = existsSync(at("case.json")) ? (JSON.parse(readFileSync(at("case.json"), "utf8")) as Case) : {};
    const env = existsSync(at(".env")) ? parseEnvFile(readFileSync(at(".env"), "utf8")).values : new Map<string, string>();
    const source = { path: "tools.yaml", text: readFileSync(at("tools.yaml"), "utf8") };
    const { target = "describe", enterprise = false, packs = [], installed } = setup;
    const options = { env, target, enterprise, packs, ...(installed === undefined ? {} : { isInstalled: (name: string) => installed.includes(name) }) };
    const result = analyze(source, options);
    const actual = locateAll(result.diagnostics, result.source);
    if (process.env["UPDATE"] === "1") writeFileSync(at("expected.json"), `${JSON.stringify(actual, null, 2)}\n`);
    const expected = JSON.parse(readFileSync(at("expected.json"), "utf8")) as readonly LocatedDiagnostic[];
    assert.deepEqual(actual, expected);
    const code = folder.replace(/-.*$/, "");
    assert.ok(actual.some((diagnostic) => diagnostic.code === code), `${code} is not among ${actual.map((diagnostic) => diagnostic.code).join(", ")}`);
    const compiled = compile(source, options);
    assert.equal(compiled.value === null, actual.some((diagnostic) => diagnostic.severity === "error"), "a catalog compiles exactly when it has no error");
  });
}

test.run();
