/** Settings: flags, variables, files, and the rules of each. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { writeFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { readTraceFlags, traceSettings } from "../../runtime/serve/trace.js";
import { environmentSettings, resolveSettings, SETTINGS } from "../../runtime/trace/settings.js";
import { openStore } from "../../runtime/trace/store/open.js";
import { suite } from "../lib/suite.js";
import { temporaryDirectory } from "./lib.js";

const test = suite("trace settings");
const flags = (...argv: string[]) => readTraceFlags(argv) ?? {};
const given = (values: { readonly [name: string]: unknown }) => resolveSettings({ from: (name) => name, given: values });

test("defaults are those of the specification", () => {
  const settings = given({});
  assert.deepEqual(
    [settings.host, settings.port, settings.port_auto, settings.sample_rate, settings.per_run_event_cap, settings.summary_max_chars, settings.queue_maxsize, settings.auth_token, settings.project_name, settings.max_runs, settings.max_blob_size_gb, settings.stale_run_timeout_s],
    ["127.0.0.1", 7842, true, 1, 50_000, 500, 50_000, null, null, 10_000, 10, 3600],
  );
  assert.match(settings.data_dir ?? "", /\.toolsrv.trace$/);
});

test("without a home folder the service asks for a data directory, and one that is given is used", async () => {
  const home = process.env["HOME"];
  const directory = await temporaryDirectory();
  const open = (values: { readonly [name: string]: unknown }) => openStore(given(values), { log: () => undefined, onDeath: () => undefined });
  try {
    for (const empty of ["", "relative/home"]) {
      process.env["HOME"] = empty;
      await assert.rejects(open({}), { name: "SettingError", message: "there is no place for the traces: HOME is empty or no absolute path; set it to a folder that only this user can read, or name a folder with --data-dir" });
    }
    await (await open({ data_dir: directory })).close();
    assert.ok(existsSync(join(directory, "traces.db")));
  } finally {
    if (home === undefined) delete process.env["HOME"];
    else process.env["HOME"] = home;
    await rm(directory, { recursive: true });
  }
});

test("flags win over variables, variables over the file", async () => {
  const directory = await temporaryDirectory();
  const file = join(directory, "trace.toml");
  await writeFile(file, 'port = 1\nproject_name = "file"\nsample_rate = 0.5\ncors_origins = ["https://a.example"]\n[model_prices.m]\ninput = 1\noutput = 2\n');
  const settings = traceSettings(flags("--config", file, "--port", "3"), { TRACE_SERVICE_PORT: "2", TRACE_SERVICE_PROJECT_NAME: "variable", TRACE_SERVICE_NO_SUCH: "x" });
  assert.deepEqual(JSON.parse(JSON.stringify([settings.port, settings.project_name, settings.sample_rate, settings.cors_origins, settings.model_prices])), [3, "variable", 0.5, ["https://a.example"], { m: { input: 1, output: 2 } }]);
  await rm(directory, { recursive: true });
});

test("a settings file is TOML, YAML or JSON, by its name", async () => {
  const directory = await temporaryDirectory();
  const files: readonly (readonly [string, string])[] = [["a.toml", 'port = 5\ncors_origins = ["https://a.example"]\n'], ["a.yaml", "port: 5\ncors_origins: [https://a.example]\n"], ["a.yml", "port: 5\ncors_origins:\n  - https://a.example\n"], ["a.json", '{"port":5,"cors_origins":["https://a.example"]}']];
  for (const [name, text] of files) {
    await writeFile(join(directory, name), text);
    const settings = traceSettings(flags("--config", join(directory, name)), {});
    assert.deepEqual([settings.port, [...settings.cors_origins]], [5, ["https://a.example"]], name);
  }
  for (const [name, text, message] of [["b.yaml", "port: [", /can't be read/], ["c.yaml", "- port", /must hold names and values/], ["d.yaml", "prot: 1", /prot in .* is not a setting/]] as const) {
    await writeFile(join(directory, name), text);
    assert.throws(() => traceSettings(flags("--config", join(directory, name)), {}), { name: "SettingError", message }, name);
  }
  assert.throws(() => traceSettings(flags("--config", join(directory, "none.yaml")), {}), { name: "SettingError", message: /does not exist/ });
  await rm(directory, { recursive: true });
});

test("every setting is a flag and a variable", () => {
  for (const name of Object.keys(SETTINGS)) {
    const row = SETTINGS[name as keyof typeof SETTINGS];
    const flag = name.replaceAll("_", "-");
    const word = row.kind === "switch" ? [`--no-${flag}`] : [`--${flag}`, "x"];
    assert.deepEqual(readTraceFlags(word), { [name]: row.kind === "switch" ? false : "x" }, name);
    assert.deepEqual(environmentSettings({ [`TRACE_SERVICE_${name.toUpperCase()}`]: "x", [`OTHER_${name.toUpperCase()}`]: "y" }), { [name]: "x" }, name);
  }
});

test("values that break their rule are refused by name", () => {
  const table: readonly (readonly [string, unknown, RegExp])[] = [
    ["port", "70000", /port must be a whole number from 0 to 65535/], ["port", "abc", /port must be/], ["sample_rate", "1.5", /from 0 to 1/], ["queue_maxsize", 0, /from 1/], ["worker_batch_timeout", 0, /above 0/],
    ["cors_origins", "https://a", /JSON list/], ["port_auto", "maybe", /true or false/], ["redact_detectors", '["nope"]', /api_keys/], ["model_prices", '{"m":{"input":"x"}}', /input/], ["log_level", "loud", /one of/],
    ["blob_subdir", "../x", /plain file name/], ["nope", 1, /not a setting/], ["summary_max_chars", "", /whole number/],
  ];
  for (const [name, value, message] of table) assert.throws(() => given({ [name]: value }), { name: "SettingError", message }, name);
});

test("a token is never quoted in a message", () => {
  assert.throws(() => given({ auth_token: 12345 }), (error: Error) => !error.message.includes("12345"));
});

test("unknown words, values that are missing and negations of values are usage errors", () => {
  for (const argv of [["--nope"], ["word"], ["--port"], ["--no-port", "1"], ["-x"]]) assert.throws(() => readTraceFlags(argv), { name: "SettingError" }, argv.join(" "));
  assert.equal(readTraceFlags(["--help"]), null);
  assert.deepEqual(readTraceFlags(["--project-name=a=b", "--port-auto"]), { project_name: "a=b", port_auto: true });
});

test("a host of other machines is fine with a token, or when nothing listens", () => {
  assert.throws(() => given({ host: "0.0.0.0" }), /set TRACE_SERVICE_AUTH_TOKEN/);
  assert.equal(given({ host: "0.0.0.0", auth_token: "t" }).host, "0.0.0.0");
  assert.equal(given({ host: "0.0.0.0", start_server: false }).host, "0.0.0.0");
  assert.equal(given({ host: "0.0.0.0", enabled: "0" }).enabled, false);
});

test.run();
