/**
 * Rule sets that are asked for: the enterprise profile (VE codes) and the built-in policy packs (POL001). They run
 * beside the ordinary rules, on the same catalog, and report in the same way.
 */
import { DESCRIPTORS } from "../../runtime/adapters/descriptors.js";
import { providerCalled } from "../../runtime/abi/provider.js";
import { DEFAULT_EMBEDDER, EMBEDDERS, readEmbeddingName } from "../../runtime/embed/descriptors.js";
import type { Reporter } from "../diagnostics.js";
import type { Path, Resolved, ResolvedTool } from "../ir.js";

/** What the enterprise profile demands; the catalog may loosen or tighten it under profiles.enterprise. */
export interface EnterpriseRules {
  readonly maxLimitMax: number;
  readonly requireTenancy: boolean;
}

const STRICT: EnterpriseRules = { maxLimitMax: 100, requireTenancy: true };

/** `validate --enterprise`: every rule of the profile. `literals` also forbids endpoints written in the catalog. */
export function reportEnterprise(catalog: Resolved, literals: boolean, reporter: Reporter): void {
  if (catalog.parsed.value.authoring?.define_tool === true) reporter.report("VE001", {}, { path: ["authoring", "define_tool"], on: "key" });
  reportIsolation(catalog, STRICT, reporter);
  if (literals) reportEndpoints(catalog, reporter);
  if (catalog.settings.hardening === undefined || catalog.settings.hardening["disable_meta_tools"] === false) reporter.report("VE005", {}, null);
  const { embedding } = catalog.parsed.value.defaults ?? {};
  if (defaultEmbedder(catalog).inProcess) reporter.report("VE007", {}, { path: embedding === undefined ? [] : ["defaults", "embedding"] });
}

function defaultEmbedder({ parsed }: Resolved): typeof DEFAULT_EMBEDDER {
  const written = parsed.value.defaults?.embedding;
  if (typeof written === "string") return readEmbeddingName(written).descriptor;
  return providerCalled(EMBEDDERS, written?.provider ?? DEFAULT_EMBEDDER.name) ?? DEFAULT_EMBEDDER;
}

/** Tools that break a rule, by name. */
interface Broken {
  readonly require_tenancy: readonly string[];
  readonly max_limit_max: readonly string[];
}

/** VE002 and VE003: each tool is isolated, by the request or by a static filter, and returns few rows. */
function reportIsolation(catalog: Resolved, rules: EnterpriseRules, reporter: Reporter): Broken {
  const broken = { require_tenancy: [] as string[], max_limit_max: [] as string[] };
  for (const tool of catalog.tools) {
    // A list of collections returns no records, so no filter applies to it.
    if (rules.requireTenancy && (catalog.tenancy.mode === "none" || catalog.tenancy.mode === "static") && tool.kind !== "meta" && tool.staticFilters.must.length === 0) {
      broken.require_tenancy.push(tool.name);
      reporter.report("VE002", {}, { path: tool.at, ...(tool.origin === "user" ? {} : { on: "key" as const }) }, { tool: tool.name });
    }
    if (tool.output.limitMax > rules.maxLimitMax) {
      broken.max_limit_max.push(tool.name);
      reporter.report("VE003", { max: tool.output.limitMax, limit: rules.maxLimitMax }, { path: [...tool.output.at, "limit_max"] }, { tool: tool.name });
    }
  }
  return broken;
}

function reportEndpoints({ connections, parsed }: Resolved, reporter: Reporter): void {
  for (const { name, at, backend } of connections) {
    const written: { readonly [key: string]: unknown } = { ...parsed.value.connections[name] };
    for (const [key, { use }] of Object.entries(DESCRIPTORS[backend].settings)) {
      if (use !== "endpoint") continue;
      const value = written[key];
      if (typeof value === "string" && !value.startsWith("${")) reporter.report("VE004", { key }, { path: [...at, key] });
    }
  }
}

/** `profiles.enterprise` in the catalog: its rules apply to everything that is built or served. */
export function reportHardening(catalog: Resolved, reporter: Reporter): void {
  const { hardening } = catalog.settings;
  if (hardening === undefined) return;
  const maxLimitMax = hardening["max_limit_max"];
  const broken = reportIsolation(catalog, {
    maxLimitMax: typeof maxLimitMax === "number" ? maxLimitMax : STRICT.maxLimitMax,
    requireTenancy: hardening["require_tenancy"] !== false,
  }, reporter);
  for (const [key, tools] of Object.entries(broken)) {
    if (tools.length > 0) reporter.report("TS0262", { key, tools: namesOf(tools) }, { path: ["profiles", "enterprise"], on: "key" });
  }
  const allowed = hardening["allowed_backends"];
  if (!Array.isArray(allowed)) return;
  for (const { name, at, backend } of catalog.connections) {
    if (!allowed.includes(backend)) reporter.report("TS0304", { allowed: allowed.join(", "), connection: name, backend }, { path: [...at, "backend"] });
  }
}

/** The first few names, and how many more there are. */
function namesOf(names: readonly string[]): string {
  const shown = names.slice(0, 5).map((name) => `'${name}'`).join(", ");
  return names.length > 5 ? `${shown} and ${names.length - 5} more` : shown;
}

const CARD_FIELDS: readonly string[] = ["pan", "cvv", "ssn"];

/** `validate --policy-builtin`: packs by name; an unknown one is denied, so that a typo passes nothing. */
export function reportPacks(catalog: Resolved, packs: readonly string[], reporter: Reporter): void {
  for (const pack of packs) {
    if (pack === "enterprise") reportEnterprise(catalog, false, reporter);
    else if (pack === "pci") reportCardData(catalog, reporter);
    else if (pack === "soc2") reportAudit(catalog, reporter);
    else reporter.report("POL001", { detail: `unknown policy pack '${pack}'` }, null, { help: "packs: enterprise, pci, soc2" });
  }
}

function reportCardData({ tools }: Resolved, reporter: Reporter): void {
  for (const tool of tools) {
    if (tool.kind === "count" || tool.kind === "meta") continue;
    for (const field of CARD_FIELDS) {
      const shown = tool.output.fields?.findIndex((path) => path.split(".").at(-1) === field) ?? -1;
      const redacted = tool.output.redact.some(({ path }) => path.split(".").at(-1) === field);
      if (redacted || (tool.output.fields !== null && shown < 0)) continue;
      const detail = shown < 0 ? `pci: the tool returns every field, ${field} among them if records have it` : `pci: the tool returns ${field} as it is`;
      const path: Path = shown < 0 ? outputPlace(tool) : [...tool.output.at, "fields", shown];
      reporter.report("POL001", { detail }, { path }, { tool: tool.name, help: shown < 0 ? "name output.fields, or redact it" : "add a redact rule for it, or leave it out of output.fields" });
    }
  }
}

function outputPlace(tool: ResolvedTool): Path {
  return tool.origin === "user" ? tool.output.at : tool.at;
}

function reportAudit({ parsed }: Resolved, reporter: Reporter): void {
  if (parsed.value.observability?.audit?.enabled === true) return;
  const path: Path = parsed.value.observability === undefined ? [] : ["observability"];
  reporter.report("POL001", { detail: "soc2: audit records are off" }, { path }, { help: "set observability.audit.enabled: true" });
}
