/** The trace service as processes of their own, for tests that kill them. */
import { type ChildProcess, spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

const fromSource = import.meta.url.endsWith(".ts");

export interface ServiceProcess {
  readonly child: ChildProcess;
  readonly url: string;
  readonly port: number;
  /** What it wrote on stderr so far. */
  readonly text: () => string;
}

/** Starts a service with these flags on a free port; resolves when it tells its address. */
export async function startProcess(flags: readonly string[], environment: { readonly [name: string]: string } = {}): Promise<ServiceProcess> {
  const entry = fileURLToPath(new URL(`./service-process.${fromSource ? "ts" : "js"}`, import.meta.url));
  const child = spawn(process.execPath, [...(fromSource ? ["--import", "tsx"] : []), entry, "--port", "0", ...flags], { stdio: ["ignore", "inherit", "pipe"], env: { ...process.env, ...environment } });
  let text = "";
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr?.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      const found = /http:\/\/[\d.]+:\d+/.exec(text)?.[0];
      if (found !== undefined) resolve(found);
    });
    child.once("exit", () => reject(new Error(`the service did not start: ${text}`)));
  });
  return { child, url, port: Number(new URL(url).port), text: () => text };
}

/** The exit code of a process that ends; `null` when a signal ended it. */
export function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.once("exit", (code) => resolve(code)));
}
