/** Jaeger as a peer of the trace service: its all-in-one program with Badger, built from its module where Go is at hand. */
import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { repo } from "../../test/lib/repo.js";
import { pause } from "./trace.js";

/** Jaeger 2.13, whose module is tagged in the old way as well. */
const MODULE = "github.com/jaegertracing/jaeger@v1.76.0";
export const JAEGER = "Jaeger 2.13 with Badger";
const FOLDER = repo(".cache/peers/jaeger");
const BUILD_MS = 45 * 60_000;
const START_MS = 30_000;

/** The program, built once; or why it can't be had. */
export function buildJaeger(): { readonly file: string } | { readonly why: string } {
  const file = join(FOLDER, "jaeger");
  if (existsSync(file)) return { file };
  const found = spawnSync("go", ["mod", "download", "-json", MODULE], { encoding: "utf8", timeout: BUILD_MS });
  if (found.error !== undefined) return { why: "Go is not installed, and Jaeger is built from its module" };
  if (found.status !== 0) return { why: `the module ${MODULE} can't be downloaded` };
  const { Dir: source } = JSON.parse(found.stdout) as { Dir: string };
  // The module has replace directives, so it is built as a main module; the cache can't be written to.
  const copy = join(FOLDER, "source");
  mkdirSync(FOLDER, { recursive: true });
  if (!existsSync(copy)) cpSync(source, copy, { recursive: true });
  spawnSync("chmod", ["-R", "u+w", copy]);
  process.stderr.write("Jaeger is built, once: this takes some minutes\n");
  const built = spawnSync("go", ["build", "-buildvcs=false", "-o", file, "./cmd/jaeger"], { cwd: copy, encoding: "utf8", timeout: BUILD_MS });
  return built.status === 0 ? { file } : { why: `Jaeger can't be built: ${built.error?.message ?? built.stderr.trim().split("\n").at(-1) ?? ""}` };
}

export interface RunningJaeger {
  readonly otlpUrl: string;
  readonly pid: number;
  /** Resolves when the query API shows all spans of some traces. */
  readable(traceIds: readonly string[], spans: number): Promise<void>;
  stop(): Promise<void>;
}

/** Starts it with an empty store. */
export async function startJaeger(file: string): Promise<RunningJaeger> {
  const directory = await mkdtemp(join(tmpdir(), "toolsrv-bench-jaeger-"));
  const [otlp, query, grpc] = [await freePort(), await freePort(), await freePort()];
  const config = join(directory, "config.yaml");
  writeFileSync(config, configText(directory, { otlp, query, grpc }));
  const child = spawn(file, ["--config", config], { stdio: "ignore" });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const queryUrl = `http://127.0.0.1:${query}`;
  const stop = async (): Promise<void> => {
    child.kill("SIGTERM");
    await ended;
    await rm(directory, { recursive: true, force: true });
  };
  const deadline = performance.now() + START_MS;
  while (!(await fetch(`${queryUrl}/api/services`).then(({ ok }) => ok, () => false))) {
    if (performance.now() > deadline || child.exitCode !== null) {
      await stop();
      throw new Error("Jaeger did not start");
    }
    await pause(50);
  }
  const isComplete = async (traceId: string, spans: number): Promise<boolean> => {
    const answer = await fetch(`${queryUrl}/api/traces/${traceId}`);
    if (!answer.ok) return false;
    const { data } = (await answer.json()) as { data: readonly { readonly spans: readonly unknown[] }[] };
    return data[0]?.spans.length === spans;
  };
  return {
    otlpUrl: `http://127.0.0.1:${otlp}`,
    pid: child.pid ?? 0,
    async readable(traceIds, spans) {
      for (const traceId of traceIds) while (!(await isComplete(traceId, spans))) await pause(20);
    },
    stop,
  };
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise<void>((resolve) => void server.close(() => resolve()));
  return port;
}

function configText(directory: string, ports: { readonly otlp: number; readonly query: number; readonly grpc: number }): string {
  const badger = join(directory, "badger");
  return `service:
  extensions: [jaeger_storage, jaeger_query]
  pipelines:
    traces: { receivers: [otlp], processors: [batch], exporters: [jaeger_storage_exporter] }
  telemetry:
    metrics: { level: none }
    logs: { level: error }
extensions:
  jaeger_query:
    storage: { traces: main }
    http: { endpoint: "127.0.0.1:${ports.query}" }
    grpc: { endpoint: "127.0.0.1:${ports.grpc}" }
  jaeger_storage:
    backends:
      main: { badger: { directories: { keys: "${badger}", values: "${badger}" }, ephemeral: false } }
receivers:
  otlp: { protocols: { http: { endpoint: "127.0.0.1:${ports.otlp}" } } }
processors: { batch: {} }
exporters:
  jaeger_storage_exporter: { trace_storage: main }
`;
}
