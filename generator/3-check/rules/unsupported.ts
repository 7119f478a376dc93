/**
 * What the catalog language has and this version cannot execute: stores without an adapter. They are refused at their
 * key, never ignored.
 */
import { DESCRIPTORS } from "../../../runtime/adapters/descriptors.js";
import type { Reporter } from "../../diagnostics.js";
import type { Resolved } from "../../ir.js";

/**
 * What the catalog is compiled for. `serve` runs it here and now and refuses whatever can't run; `build` and `validate`
 * also accept stores whose adapter this version lacks; `describe` looks at no package either.
 */
export type Target = "serve" | "build" | "validate" | "describe";

/** Reports what can't be executed for the target (TS0303). */
export function reportUnsupported(catalog: Resolved, target: Target, reporter: Reporter): void {
  if (target !== "serve") return;
  for (const { at, backend } of catalog.connections) {
    if (DESCRIPTORS[backend].load === undefined) reporter.report("TS0303", { backend }, { path: [...at, "backend"] });
  }
}
