/** Facts of audit records that the compiler and the runtime share. */

/** What sink otlp needs and toolsrv does not bring along. */
export const OTLP_LOG_PACKAGES: readonly string[] = ["@opentelemetry/api", "@opentelemetry/resources", "@opentelemetry/sdk-logs", "@opentelemetry/exporter-logs-otlp-http"];
