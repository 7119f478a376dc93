/** Writes what a server with calls of every kind answers at /metrics: `node scrape-file.js FILE`, for promtool. */
import { writeFileSync } from "node:fs";
import { observedProgram, observedServer } from "./server.js";

const [file = ""] = process.argv.slice(2);
const server = await observedServer({ tools: observedProgram({ metrics: { enabled: true } }) }, ["--log-level", "silent"]);
for (const [tool, args] of [["echo", { text: "a" }], ["echo", {}], ["store_down", {}], ["bug", {}], ["limited", {}], ["no\"such\ntool", {}], ["list_available_tools", {}]] as const) await server.call(tool, args);
const { status, body } = await server.get("/metrics");
await server.stop();
if (status !== 200) throw new Error(`/metrics answered ${status}`);
writeFileSync(file, body);
