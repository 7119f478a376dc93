/** The program under load with records of its calls, and a collector that takes everything. */
import { createServer } from "node:http";
import type { Program } from "../../runtime/abi/call.js";
import type { Json } from "../../runtime/abi/plan.js";
import { storeFreeProgram } from "./program.js";

export interface ObservedPlaces {
  readonly collector: string;
  readonly auditFile: string;
}

/** `kinds` is a list such as `audit,metrics,tracing`; `chain` makes audit's records a chain. */
export function observedBench(kinds: string, { collector, auditFile }: ObservedPlaces): Program {
  const wanted = new Set(kinds.split(","));
  const all: { readonly [kind: string]: Json } = {
    audit: { sink: "file", path: auditFile, exclude_tools: [], redact: { arg_fields: ["password", "token", "secret"] }, ...(wanted.has("chain") ? { chain: true } : {}) },
    metrics: { enabled: true },
    tracing: { exporter: "otlp", endpoint: collector, service_name: "bench", semconv: false },
  };
  const program = storeFreeProgram(6);
  const certificates = Object.fromEntries(Object.keys(program.plans).map((tool) => [tool, `sha256:${"0".repeat(64)}`]));
  return { ...program, certificates, settings: { observability: Object.fromEntries(Object.entries(all).filter(([kind]) => wanted.has(kind))) } };
}

export interface NullCollector {
  readonly url: string;
  close(): Promise<void>;
}

/** Takes spans and keeps none. Its address is no IPv4 one: tools that print a command line would be taken for a server. */
export async function startNullCollector(): Promise<NullCollector> {
  const server = createServer((request, response) => {
    request.resume().on("end", () => response.writeHead(200).end());
  });
  await new Promise<void>((ready) => server.listen(0, "localhost", ready));
  const address = server.address();
  return {
    url: `http://localhost:${typeof address === "object" && address !== null ? address.port : 0}`,
    close: () => new Promise((done) => {
      server.closeAllConnections();
      server.close(() => done());
    }),
  };
}
