/**
 * Everything the catalog language has and the runtime cannot execute yet. Each is refused at its key, never ignored.
 * This is the one list of it: a row goes when the runtime learns to do what it names.
 */
import { DESCRIPTORS } from "../../../runtime/adapters/descriptors.js";
import type { Reporter } from "../../diagnostics.js";
import type { Path, Resolved } from "../../ir.js";

/**
 * What the catalog is compiled for. `serve` runs it here and now and refuses whatever can't run; `build` also accepts
 * stores whose adapter this version lacks; `validate` accepts everything the language has and notes what the other two
 * refuse; `describe` accepts it without a word.
 */
export type Target = "serve" | "build" | "validate" | "describe";

interface Finding {
  readonly what: string;
  readonly path: Path;
  readonly help?: string;
}

/** Settings that a server keeps to. */
const SERVED: ReadonlySet<string> = new Set(["security.auth", "security.rbac", "security.rate_limit", "observability.metrics", "observability.tracing"]);

/** Reports what can't be executed for the target (TS0301, TS0303). */
export function reportUnsupported(catalog: Resolved, target: Target, reporter: Reporter): void {
  if (target === "describe") return;
  for (const { at, backend } of target === "serve" ? catalog.connections : []) {
    if (DESCRIPTORS[backend].load === undefined) reporter.report("TS0303", { backend }, { path: [...at, "backend"] });
  }
  const findings = ofSettings(catalog);
  for (const { what, path, help } of findings) {
    const isNote = target === "validate";
    const way = isNote ? { help: "the catalog is as it should be; build and serve refuse it until they can do this" } : help === undefined ? {} : { help };
    reporter.report("TS0301", { what }, { path, on: "key" }, { severity: isNote ? "info" : "error", ...way });
  }
}

function ofSettings({ settings }: Resolved): readonly Finding[] {
  const findings: Finding[] = [];
  for (const section of ["security", "observability"] as const) {
    for (const key of Object.keys(settings[section] ?? {})) {
      if (!SERVED.has(`${section}.${key}`)) findings.push({ what: `${section}.${key}`, path: [section, key] });
    }
  }
  return findings;
}
