import * as assert from "node:assert/strict";
import { loadUws, thisMachine, type Machine } from "../../runtime/transport/uws-load.js";
import { suite } from "../lib/suite.js";

const test = suite("uws-load");

const binary = { App: () => undefined };

/** A Linux machine with Node 24 on which only the named modules exist. */
function machine(modules: { readonly [name: string]: unknown }, env: Map<string, string> = new Map()): Machine & { readonly asked: string[] } {
  const asked: string[] = [];
  return {
    platform: "linux", arch: "x64", nodeMajor: "24", asked,
    glibc: () => "2.36",
    setEnv: (name, value) => void env.set(name, value),
    hasEnv: (name) => env.has(name),
    require(name) {
      asked.push(name);
      const found = modules[name];
      if (found instanceof Error) throw found;
      if (found === undefined) throw Object.assign(new Error(`Cannot find module '${name}'\nRequire stack: …`), { code: "MODULE_NOT_FOUND" });
      return found;
    },
  };
}

test("a uWebSockets.js that the user installed wins over our own binary package", () => {
  const theirs = { App: () => undefined };
  assert.equal(loadUws(machine({ "uWebSockets.js": theirs, "@uwsjs/linux-x64-24": binary }) as Machine), theirs);
});

test("otherwise the package of this platform, processor and Node is loaded", () => {
  const here = machine({ "@uwsjs/linux-x64-24": binary, "@uwsjs/linux-x64-20": {} });
  assert.equal(loadUws(here), binary);
  assert.deepEqual(here.asked, ["uWebSockets.js", "@uwsjs/linux-x64-24"]);
});

test("without any, the error names the package to install and the other source", () => {
  assert.throws(() => loadUws(machine({})), /no uWebSockets\.js binary for linux x64 with Node 24; install @uwsjs\/linux-x64-24, or uWebSockets\.js from its official source/);
});

test("a binary for a newer glibc is reported with both versions", () => {
  const dlopen = Object.assign(new Error("/lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.38' not found (required by /x/uws.node)"), { code: "ERR_DLOPEN_FAILED" });
  assert.throws(() => loadUws(machine({ "@uwsjs/linux-x64-24": dlopen })), /@uwsjs\/linux-x64-24 needs glibc 2\.38 or newer, this system has 2\.36/);
});

test("a binary that does not load is reported with its reason, and the next one is tried", () => {
  const broken = new Error("invalid ELF header\nmore");
  assert.throws(() => loadUws(machine({ "uWebSockets.js": broken })), /uWebSockets\.js does not load: invalid ELF header;|uWebSockets\.js does not load: invalid ELF header\)/);
  assert.equal(loadUws(machine({ "uWebSockets.js": broken, "@uwsjs/linux-x64-24": binary })), binary);
});

test("a missing module inside a package is not mistaken for a missing package", () => {
  const inner = Object.assign(new Error("Cannot find module './uws_linux_x64_137.node'"), { code: "MODULE_NOT_FOUND" });
  assert.throws(() => loadUws(machine({ "uWebSockets.js": inner })), /uWebSockets\.js does not load: Cannot find module '\.\/uws_linux/);
});

test("the header limit is raised before the binary is loaded, unless the user has set it", () => {
  const env = new Map<string, string>();
  const here = machine({}, env);
  const seen: (string | undefined)[] = [];
  loadUws({ ...here, require: () => (seen.push(env.get("UWS_HTTP_MAX_HEADERS_SIZE")), binary) });
  assert.deepEqual(seen, ["32768"]);
  env.set("UWS_HTTP_MAX_HEADERS_SIZE", "9000");
  loadUws({ ...here, require: () => binary });
  assert.equal(env.get("UWS_HTTP_MAX_HEADERS_SIZE"), "9000");
});

test("this machine has a binary that loads", () => {
  assert.equal(typeof loadUws(thisMachine()).App, "function");
});

test.run();
