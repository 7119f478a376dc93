/** What observability.tracing needs beside toolsrv; the compiler asks whether it is installed, the runtime loads it. */

export const SPAN_EXPORTERS = ["otlp", "console"] as const;
export type SpanExporterName = (typeof SPAN_EXPORTERS)[number];

const SDK = ["@opentelemetry/api", "@opentelemetry/resources", "@opentelemetry/sdk-trace-base"] as const;

export const SPAN_PACKAGES = {
  otlp: [...SDK, "@opentelemetry/exporter-trace-otlp-proto"],
  console: SDK,
} as const satisfies { readonly [E in SpanExporterName]: readonly string[] };
