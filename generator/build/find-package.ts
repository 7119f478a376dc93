/** Where Node would look for the runtime of a built server. */
import { dirname, join } from "node:path";
import type { Host } from "../host.js";

/** Whether Node finds the runtime from the output: in a node_modules above it, or as the package that it is part of. */
export async function findsPackage(host: Host, out: string): Promise<boolean> {
  for (let folder = out; ; folder = dirname(folder)) {
    if (await host.exists(join(folder, "node_modules", "toolsrv", "package.json"))) return true;
    const own = await host.read(join(folder, "package.json")).catch(() => null);
    if (own !== null && /^\s*"name":\s*"toolsrv"/m.test(new TextDecoder().decode(own))) return true;
    if (folder === dirname(folder)) return false;
  }
}
