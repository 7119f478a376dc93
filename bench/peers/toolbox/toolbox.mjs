/** MCP Toolbox: `node toolbox.mjs CONFIG`. The binary takes a port and prints none, so a free one is found first. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { dirname, join } from "node:path";

const [config] = process.argv.slice(2);
const probe = createServer().listen(0, "127.0.0.1");
await once(probe, "listening");
const { port } = probe.address();
probe.close();
await once(probe, "close");

const require = createRequire(import.meta.url);
const own = `@toolbox-sdk/server-${process.platform}-${process.arch}`;
const binary = join(dirname(createRequire(require.resolve("@toolbox-sdk/server/package.json")).resolve(`${own}/package.json`)), "bin", "toolbox");
const child = spawn(binary, ["--config", config, "--address", "127.0.0.1", "--port", String(port), "--disable-reload", "--disable-version-check"], { stdio: ["ignore", "pipe", "pipe"] });
let text = "";
const onText = (chunk) => {
  text += String(chunk);
  if (!text.includes("Server ready to serve")) return;
  child.stdout.off("data", onText).resume();
  child.stderr.off("data", onText).resume();
  process.stderr.write(`port ${port}\n`);
};
child.stdout.on("data", onText);
child.stderr.on("data", onText);
child.on("close", (code) => {
  process.stderr.write(text.slice(-1000));
  process.exit(code ?? 1);
});
for (const signal of ["SIGTERM", "SIGINT"]) process.on(signal, () => child.kill(signal));
