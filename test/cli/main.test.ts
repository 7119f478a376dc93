/** The shell around the commands, with a table of its own, so that only the shell is tested. */
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "../../generator/cli/main.js";
import { COMMANDS } from "../../generator/cli/commands.js";
import { UsageError } from "../../generator/cli/command.js";
import type { CommandSpec, Invocation, Io } from "../../generator/cli/command.js";
import { memoryIo } from "../lib/io.js";
import { repo } from "../lib/repo.js";
import { suite } from "../lib/suite.js";

const test = suite("cli: shell");

type Body = (invocation: Invocation, io: Io) => Promise<number>;

/** A command like the real ones that records what it was given. */
function probe(body: Body = async () => 0): { readonly spec: CommandSpec; readonly seen: Invocation[] } {
  const seen: Invocation[] = [];
  const spec: CommandSpec = {
    name: "probe",
    summary: "Record the words",
    args: [{ name: "FILE", required: true }, { name: "MORE", required: false, many: true }],
    options: [
      { name: "env-file", value: "FILE", help: "a file" },
      { name: "version", value: "N", help: "a number" },
      { name: "tag", value: "TEXT", mayBeEmpty: true, help: "a text" },
      { name: "live", help: "a switch" },
      { name: "at", value: "PORT", optional: (word) => /^\d+$/.test(word), help: "a number that may be left out" },
      { name: "meta-tools", default: true, help: "a switch that is on" },
    ],
    load: async () => ({
      run: async (invocation, io) => {
        seen.push(invocation);
        return body(invocation, io);
      },
    }),
  };
  return { spec, seen };
}

async function shell(argv: readonly string[], body?: Body): Promise<{ code: number; out: string; err: string; seen: Invocation | undefined }> {
  const { spec, seen } = probe(body);
  const io = memoryIo();
  const code = await run(argv, io, [spec]);
  return { code, out: io.out(), err: io.err(), seen: seen[0] };
}

test("words reach a command as the table describes them", async () => {
  const table: readonly (readonly [readonly string[], Invocation])[] = [
    [["a.yaml"], { args: ["a.yaml"], options: { "meta-tools": true } }],
    [["--live", "a.yaml"], { args: ["a.yaml"], options: { live: true, "meta-tools": true } }],
    [["a.yaml", "--no-meta-tools"], { args: ["a.yaml"], options: { "meta-tools": false } }],
    [["a.yaml", "--no-meta-tools", "--meta-tools"], { args: ["a.yaml"], options: { "meta-tools": true } }],
    [["--env-file", ".env", "a.yaml"], { args: ["a.yaml"], options: { "env-file": ".env", "meta-tools": true } }],
    [["--env-file=a=b", "a.yaml"], { args: ["a.yaml"], options: { "env-file": "a=b", "meta-tools": true } }],
    [["--tag=", "a.yaml"], { args: ["a.yaml"], options: { tag: "", "meta-tools": true } }],
    [["--env-file=--live", "a.yaml"], { args: ["a.yaml"], options: { "env-file": "--live", "meta-tools": true } }],
    [["--env-file", "one", "a.yaml", "--env-file", "two"], { args: ["a.yaml"], options: { "env-file": "two", "meta-tools": true } }],
    [["--version", "2", "a.yaml"], { args: ["a.yaml"], options: { version: "2", "meta-tools": true } }],
    [["--at", "80", "a.yaml"], { args: ["a.yaml"], options: { at: "80", "meta-tools": true } }],
    [["--at", "a.yaml"], { args: ["a.yaml"], options: { at: "", "meta-tools": true } }],
    [["a.yaml", "--at"], { args: ["a.yaml"], options: { at: "", "meta-tools": true } }],
    [["a.yaml", "--at=x", "--live"], { args: ["a.yaml"], options: { at: "x", live: true, "meta-tools": true } }],
    [["-"], { args: ["-"], options: { "meta-tools": true } }],
    [["a.yaml", "007", "1e3", "true"], { args: ["a.yaml", "007", "1e3", "true"], options: { "meta-tools": true } }],
    [["--", "--live", "-x"], { args: ["--live", "-x"], options: { "meta-tools": true } }],
    [["probe", "--live"], { args: ["probe"], options: { live: true, "meta-tools": true } }],
    [["a.yaml", "--debug"], { args: ["a.yaml"], options: { "meta-tools": true } }],
    [["--", "--debug"], { args: ["--debug"], options: { "meta-tools": true } }],
  ];
  for (const [words, want] of table) {
    const { code, err, seen } = await shell(["probe", ...words]);
    assert.equal(code, 0, `${words.join(" ")}: ${err}`);
    assert.deepEqual(seen?.args, want.args, words.join(" "));
    const options = { ...seen.options };
    delete options["watch"];
    const wanted = { ...want.options };
    delete wanted["watch"];
    assert.deepEqual(options, wanted, words.join(" "));
  }
});

test("a usage error is one line and the command's usage, exit 2", async () => {
  const table: readonly (readonly [readonly string[], string])[] = [
    [["probe"], "toolsrv probe: missing FILE"],
    [["probe", "a", "--env-fil", "b"], "toolsrv probe: unknown option --env-fil; did you mean --env-file?"],
    [["probe", "a", "--no-meta-tool"], "toolsrv probe: unknown option --no-meta-tool; did you mean --no-meta-tools?"],
    [["probe", "a", "--no-live"], "toolsrv probe: unknown option --no-live"],
    [["probe", "a", "-x"], "toolsrv probe: unknown option -x"],
    [["probe", "a", "--live=yes"], "toolsrv probe: --live takes no value"],
    [["probe", "a", "--env-file"], "toolsrv probe: --env-file needs a value: --env-file FILE"],
    [["probe", "a", "--env-file="], "toolsrv probe: --env-file needs a value: --env-file FILE"],
    [["probe", "a", "--env-file", ""], "toolsrv probe: --env-file needs a value: --env-file FILE"],
    [["probe", "a", "--env-file", "--live"], "toolsrv probe: --env-file needs a value; one that starts with -- is written --env-file=--live"],
  ];
  for (const [argv, line] of table) {
    const { code, out, err, seen } = await shell(argv);
    assert.equal(code, 2, argv.join(" "));
    assert.equal(out, "");
    assert.equal(seen, undefined);
    assert.equal(err.split("\n")[0], line);
    assert.match(err, /^Usage: toolsrv probe FILE \[MORE \.\.\.\]/m);
  }
});

test("an option that must be given is asked for", async () => {
  const { spec } = probe();
  const strict: CommandSpec = { ...spec, options: [{ name: "to", value: "N", help: "a number", required: true }, ...spec.options] };
  const io = memoryIo();
  assert.equal(await run(["probe", "a"], io, [strict]), 2);
  assert.match(io.err(), /^toolsrv probe: missing --to N\nUsage: toolsrv probe FILE \[MORE \.\.\.\] --to N \[--env-file FILE\]/);
  assert.equal(await run(["probe", "a", "--to", "2"], memoryIo(), [strict]), 0);
});

test("an unknown command is named with the one that was meant, exit 2", async () => {
  const table: readonly (readonly [readonly string[], string])[] = [
    [[], "toolsrv: no command given"],
    [["prboe"], "toolsrv: unknown command 'prboe'; did you mean probe?"],
    [["frobnicate"], "toolsrv: unknown command 'frobnicate'"],
    [["--live", "probe"], "toolsrv: the command comes first, before --live"],
    [["help", "prob"], "toolsrv: unknown command 'prob'; did you mean probe?"],
  ];
  for (const [argv, line] of table) {
    const { code, out, err } = await shell(argv);
    assert.equal(code, 2, argv.join(" "));
    assert.equal(out, "");
    assert.equal(err.split("\n")[0], line);
  }
});

test("every command of the specification is one, with a help of its own", async () => {
  for (const name of ["init", "validate", "test", "serve", "introspect", "discover", "eval", "drift", "drafts", "approve", "migrate", "auth"]) {
    const io = memoryIo();
    assert.equal(await run([name, "--help"], io), 0, name);
    assert.ok(COMMANDS.some((spec) => spec.name === name), name);
  }
});

test("help and version go to stdout, exit 0", async () => {
  for (const argv of [["--help"], ["-h"], ["help"], ["probe", "--help"], ["probe", "-h"], ["help", "probe"], ["probe", "a", "--help"]]) {
    const { code, out, err, seen } = await shell(argv);
    assert.equal(code, 0, argv.join(" "));
    assert.equal(err, "");
    assert.equal(seen, undefined);
    assert.match(out, /^Usage: toolsrv /m);
  }
  const { code, out } = await shell(["--version"]);
  assert.equal(code, 0);
  assert.match(out, /^toolsrv \d+\.\d+\.\d+\n$/);
});

test("help of every command fits 80 columns and names each option that works", async () => {
  for (const argv of [["--help"], ...COMMANDS.flatMap((spec) => [[spec.name, "--help"], ...(spec.commands ?? []).map(({ name }) => [spec.name, name, "--help"])])]) {
    const io = memoryIo();
    assert.equal(await run(argv, io), 0);
    for (const line of io.out().split("\n")) assert.ok([...line].length <= 80, `${argv.join(" ")}: ${line}`);
  }
  for (const spec of COMMANDS) {
    const io = memoryIo();
    // A command with commands lists its options with each of those that take them.
    for (const words of spec.commands === undefined ? [[]] : spec.commands.map(({ name }) => [name])) await run([spec.name, ...words, "--help"], io);
    for (const option of spec.options) {
      const shown = io.out().includes(`--${option.name}`) || io.out().includes(`--[no-]${option.name}`);
      assert.ok(shown, `${spec.name} --${option.name}`);
    }
  }
});

test("the help of a switch that is on shows how to turn it off", async () => {
  const { out } = await shell(["probe", "--help"]);
  assert.match(out, /--\[no-\]meta-tools {2,}a switch that is on \(on by default\)/);
});

test("every command of the table has its module", async () => {
  for (const spec of COMMANDS) assert.equal(typeof (await spec.load()).run, "function", spec.name);
});

test("a command's own usage error gets the command's usage, exit 2", async () => {
  const { code, err } = await shell(["probe", "a"], async () => {
    throw new UsageError("--env-file is a directory");
  });
  assert.equal(code, 2);
  assert.match(err, /^toolsrv probe: --env-file is a directory\nUsage: toolsrv probe FILE/);
});

test("an exception that nobody expected is an apology on one line, exit 70", async () => {
  const broken: Body = async () => {
    throw new Error("cannot happen\nsecond line");
  };
  const plain = await shell(["probe", "a"], broken);
  assert.equal(plain.code, 70);
  assert.equal(plain.out, "");
  assert.equal(plain.err.trimEnd().split("\n").length, 1);
  assert.match(plain.err, /cannot happen; sorry/);
  const debug = await shell(["probe", "a", "--debug"], broken);
  assert.equal(debug.code, 70);
  assert.match(debug.err, /\n +at .*main\.test/);
});

test("Ctrl-C ends a command at once with 130, SIGTERM with 143", async () => {
  for (const [name, want] of [["SIGINT", 130], ["SIGTERM", 143]] as const) {
    const io = memoryIo();
    const { spec } = probe(() => {
      io.interrupt(name);
      return new Promise<number>(() => undefined);
    });
    assert.equal(await run(["probe", "a"], io, [spec]), want);
    assert.equal(io.err(), "");
  }
});

test("a graceful command ends by itself after the signal", async () => {
  const io = memoryIo();
  const { spec } = probe(async (_, { signal }) => {
    io.interrupt("SIGTERM");
    await new Promise((resolve) => setImmediate(resolve));
    return signal.aborted ? 0 : 1;
  });
  assert.equal(await run(["probe", "a"], io, [{ ...spec, graceful: true }]), 0);
});

test("the launcher hands --env-file to toolsrv, not to Node", async () => {
  const { code, stderr } = await launch(repo("bin/toolsrv"), ["validate", "--env-file", "/nowhere/.env", "--jsn"]);
  assert.equal(code, 2);
  assert.match(stderr, /unknown option --jsn/);
});

test("a reader that goes away ends a command quietly", async () => {
  const child = spawn(repo("bin/toolsrv"), ["--help"], { stdio: ["ignore", "pipe", "pipe"] });
  child.stdout.destroy();
  let errors = "";
  child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  const code = await new Promise((resolve) => child.once("close", resolve));
  assert.equal(code, 0);
  assert.equal(errors, "");
});

test("the launcher says what to run when dist/ is missing", async () => {
  const folder = mkdtempSync(join(tmpdir(), "toolsrv-launcher-"));
  try {
    cpSync(repo("bin"), join(folder, "bin"), { recursive: true });
    cpSync(repo("package.json"), join(folder, "package.json"));
    const { code, stderr } = await launch(join(folder, "bin/toolsrv"), ["--help"]);
    assert.equal(code, 2);
    assert.equal(stderr, "toolsrv is not built: dist/ is missing; run `make` in the repository first\n");
  } finally {
    rmSync(folder, { recursive: true });
  }
});

function launch(program: string, args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(program, [...args], (error, stdout, stderr) => resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }));
  });
}

test.run();
