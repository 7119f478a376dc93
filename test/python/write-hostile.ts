/** Writes a Python package of hostile names and texts, and the same definitions as JSON: `node write-hostile.js FOLDER`. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { plan } from "../../generator/4-plan/index.js";
import { emitPython } from "../../generator/5-emit/python.js";
import { nodeHost } from "../../generator/host.js";
import { CATALOGS } from "../emit/catalogs.js";

const [folder = ""] = process.argv.slice(2);
const hostile = CATALOGS["hostile"];
if (hostile === undefined) throw new TypeError("there is no hostile catalog");
const plans = plan(hostile());
const files = await emitPython({ catalogs: [{ plans, project: null }], name: "hostile_tools", server: "../server.js" }, nodeHost());
for (const [path, text] of files) {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}
writeFileSync(join(folder, "definitions.json"), JSON.stringify(plans.definitions));
