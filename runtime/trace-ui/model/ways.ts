/** Ways to send runs: what the empty list shows and what docs/trace.md has as examples, word for word. Tests run all but Python's. */

export interface Way {
  readonly name: string;
  /** Of the fenced block in the documentation. */
  readonly language: "sh" | "python" | "js";
  /** `base` is the address of the service, with a slash at its end. */
  readonly text: (base: string) => string;
}

const PROVIDER = (base: string): string => `import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { BatchSpanProcessor, NodeTracerProvider } from "@opentelemetry/sdk-trace-node";

const exporter = new OTLPTraceExporter({ url: "${base}v1/traces" });
const provider = new NodeTracerProvider({ spanProcessors: [new BatchSpanProcessor(exporter)] });
provider.register();`;

export const WAYS: readonly Way[] = [
  {
    name: "OpenTelemetry", language: "sh", text: (base) => `export OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=${base}v1/traces
export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf
# with a token:
# export OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20TOKEN"`,
  },
  {
    name: "Python", language: "python", text: (base) => `# pip install openinference-instrumentation-openai opentelemetry-sdk opentelemetry-exporter-otlp-proto-http
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from openinference.instrumentation.openai import OpenAIInstrumentor

provider = TracerProvider()
provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter("${base}v1/traces")))
trace.set_tracer_provider(provider)
OpenAIInstrumentor().instrument()`,
  },
  {
    name: "LangChain.js", language: "js", text: (base) => `import { createHttpSink, createLangChainHandler, createTracer } from "toolsrv/trace";

const tracer = createTracer({ sink: createHttpSink({ url: "${base}" }) });
await agent.invoke(input, { callbacks: [createLangChainHandler(tracer)] });
await tracer.flush();`,
  },
  {
    name: "TypeScript", language: "js", text: (base) => `import { createHttpSink, createTracer } from "toolsrv/trace";

const tracer = createTracer({ sink: createHttpSink({ url: "${base}" }) });
const answer = await tracer.trace("agent", { name: "my_agent", input: { question } }, async () => {
  const found = await tracer.trace("tool", { name: "search", input: { q: question } }, () => search(question));
  return \`found \${found.length}\`;
});
await tracer.flush();`,
  },
  {
    name: "MCP", language: "js", text: (base) => `import { createHttpSink, createTracer, traceMcpClient } from "toolsrv/trace";

const tracer = createTracer({ sink: createHttpSink({ url: "${base}" }) });
const client = traceMcpClient(mcpClient, tracer, "my_server");
await client.callTool({ name: "search", arguments: { q: "bicycles" } });
await tracer.flush();`,
  },
  {
    name: "AI SDK", language: "js", text: (base) => `import { generateText } from "ai";
${PROVIDER(base)}

const experimental_telemetry = { isEnabled: true, functionId: "my_agent", tracer: provider.getTracer("ai") };
const { text } = await generateText({ model, prompt: "Where is my order?", experimental_telemetry });
await provider.forceFlush();`,
  },
  {
    name: "OTLP", language: "js", text: (base) => `${PROVIDER(base)}

const span = provider.getTracer("my_app").startSpan("chat gpt-4o-mini", {
  attributes: { "gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4o-mini", "gen_ai.usage.input_tokens": 12 },
});
span.end();
await provider.forceFlush();`,
  },
  {
    name: "HTTP", language: "sh", text: (base) => `curl ${base}api/ingest \\
  -H 'content-type: application/json' \\
  -d '[{"run_id":"r1","event_type":"chain_start","agent_name":"hello"},
       {"run_id":"r1","event_type":"chain_end"}]'`,
  },
];
