/** The list without runs: how to send the first one, by what the reader uses. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { type Sample, sampleEvents } from "../../trace/sample.js";
import { messageOf } from "../data/api.js";
import { useApp } from "./context.js";
import { CopyButton } from "./parts.js";

type Way = readonly [name: string, text: (base: string) => string];

const WAYS: readonly Way[] = [
  ["OpenTelemetry", (base) => `export OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=${base}v1/traces
export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf
# with a token:
# export OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20TOKEN"`],
  ["Python", (base) => `# pip install openinference-instrumentation-openai opentelemetry-sdk opentelemetry-exporter-otlp-proto-http
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from openinference.instrumentation.openai import OpenAIInstrumentor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter("${base}v1/traces")))
trace.set_tracer_provider(provider)
OpenAIInstrumentor().instrument()`],
  ["LangChain.js", (base) => `import { createHttpSink, createLangChainHandler, createTracer } from "toolsrv/trace";

const tracer = createTracer({ sink: createHttpSink({ url: "${base}" }) });
await agent.invoke(input, { callbacks: [createLangChainHandler(tracer)] });
await tracer.flush();`],
  ["TypeScript", (base) => `import { createHttpSink, createTracer } from "toolsrv/trace";

const tracer = createTracer({ sink: createHttpSink({ url: "${base}" }) });
const run = tracer.start("chain", { name: "my_agent", input: { question } });
const call = run.start("tool", { name: "search", input: { q: question } });
call.end({ output: found });
run.end({ output: { answer } });
await tracer.flush();`],
  ["MCP", (base) => `import { createHttpSink, createTracer, traceMcpClient } from "toolsrv/trace";

const tracer = createTracer({ sink: createHttpSink({ url: "${base}" }) });
const client = traceMcpClient(mcpClient, tracer, "my_server");
await client.callTool({ name: "search", arguments: { q: "bicycles" } });`],
  ["HTTP", (base) => `curl ${base}api/ingest \\
  -H 'content-type: application/json' \\
  -d '[{"run_id":"r1","event_type":"chain_start","agent_name":"hello"},
       {"run_id":"r1","event_type":"chain_end"}]'`],
];

export function Onboarding(): JSX.Element {
  const app = useApp();
  const chosen = useSignal(0);
  const problem = useSignal<string | null>(null);
  const base = new URL("../", location.href.replace(/#.*/, "")).href;
  const [, text] = WAYS[chosen.value] ?? WAYS[0] ?? ["", () => ""];
  const code = text(base);
  const loadSample = async (): Promise<void> => {
    problem.value = null;
    try {
      // It is a file beside the page: most readers never need it.
      const answer = await fetch(new URL("sample.json", location.href));
      if (!answer.ok) throw new Error(`the sample can't be read: ${answer.status}`);
      const now = app.now();
      await app.api.post("ingest", sampleEvents((await answer.json()) as Sample, now, `sample-${now}`));
    } catch (failure) {
      problem.value = messageOf(failure);
    }
  };
  return (
    <div class="notice onboarding">
      <strong>No runs yet</strong>
      <p>Runs appear here as soon as they start. How do you want to send them?</p>
      <div class="switch ways" role="group" aria-label="Way to send">{WAYS.map(([name], index) => <button key={name} type="button" aria-pressed={chosen.value === index} onClick={() => (chosen.value = index)}>{name}</button>)}</div>
      <div class="code"><CopyButton label="Copy the code" text={() => code} /><pre tabIndex={0}>{code}</pre></div>
      <p><button type="button" onClick={() => void loadSample()}>Load a sample</button> <span class="quiet">five runs of an agent, to look around; delete them like any other</span></p>
      {problem.value !== null && <p class="bad" role="alert">{problem.value}</p>}
    </div>
  );
}
