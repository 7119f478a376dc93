/** Rules about spans: where they go can be reached, and what is written about them is in force. */
import type { Json } from "../../../runtime/abi/plan.js";
import { isRecord } from "../../../runtime/base/paths.js";
import type { Path } from "../../ir.js";
import type { Rule } from "../rule.js";

const AT: Path = ["observability", "tracing"];

/** An address with a reference is checked at the start of the server. */
export const endpointIsAddress: Rule = ({ catalog }, reporter) => {
  const tracing: Json | undefined = catalog.settings.observability?.["tracing"];
  const written = catalog.parsed.value.observability?.tracing;
  if (!isRecord(tracing) || typeof tracing["endpoint"] !== "string") return;
  if (tracing["exporter"] === "otlp" && !(URL.canParse(tracing["endpoint"]) && /^https?:$/.test(new URL(tracing["endpoint"]).protocol))) {
    reporter.report("TS0270", { detail: "endpoint is not an address" }, { path: [...AT, "endpoint"] }, { severity: "error" });
  }
  if (tracing["exporter"] === "console" && written?.endpoint !== undefined) {
    reporter.report("TS0270", { detail: "endpoint is not used, because the exporter is console" }, { path: [...AT, "endpoint"], on: "key" }, { severity: "warning", help: "write exporter: otlp, or remove endpoint" });
  }
};
