/** What observability.tracing needs beside toolsrv; the compiler asks whether it is installed, the runtime loads it. */

export const SPAN_EXPORTERS = ["otlp", "console"] as const;
export type SpanExporterName = (typeof SPAN_EXPORTERS)[number];

export const SPAN_PACKAGES = {
  otlp: ["@opentelemetry/api", "@opentelemetry/resources", "@opentelemetry/exporter-trace-otlp-proto"],
  console: [],
} as const satisfies { readonly [E in SpanExporterName]: readonly string[] };
