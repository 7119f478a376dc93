/**
 * Phase 1: bytes → Parsed. Reads YAML, decides scalars, and checks the shape against specs/tds.schema.json.
 * Knows nothing of defaults, references between parts, or backends. Input is a text, output plain values plus the
 * document they came from; every problem is a diagnostic with a position.
 */
import { isScalar, visit, type Document, type Node } from "yaml";
import { createReporter, nameTools } from "../diagnostics.js";
import type { Parsed, Pass, SourceFile } from "../ir.js";
import { tdsSchema } from "./schema.gen.js";
import type { Origin } from "./place.js";
import { checkShape } from "./shape.js";
import { readYaml } from "./yaml.js";

/**
 * Parses a catalog. `value` is null only when the file could not be read as a mapping at all, but then carries
 * no `value` to go on with; a catalog with shape errors is returned without its broken parts (`Parsed.broken`).
 */
export function parse(source: SourceFile): Pass<Parsed> & { readonly source: Pick<Parsed, "doc" | "lines"> | null } {
  const reporter = createReporter(source.path);
  const yaml = readYaml(source, reporter);
  if (yaml === null || yaml.value === undefined) return { value: null, diagnostics: reporter.diagnostics, source: yaml };
  if (typeof yaml.value !== "object" || yaml.value === null || Array.isArray(yaml.value)) {
    reporter.report("TS0007", { got: Array.isArray(yaml.value) ? "a list" : "a single value" }, { path: [] });
    return { value: null, diagnostics: reporter.diagnostics, source: yaml };
  }
  const { value, broken } = checkShape(tdsSchema, yaml.value, reporter, originOf(yaml.doc));
  const parsed: Parsed = { file: source, doc: yaml.doc, lines: yaml.lines, value: value as Parsed["value"], broken };
  return { value: parsed, diagnostics: nameTools(reporter.diagnostics, (yaml.value as { readonly tools?: unknown }).tools), source: yaml };
}

function originOf(doc: Document): Origin {
  return {
    sourceText(path) {
      const node: unknown = doc.getIn(path, true);
      return isScalar(node) ? node.source ?? null : null;
    },
    isTemplate(path) {
      let found = false;
      const node = doc.getIn(path, true) as Node | undefined;
      if (node === undefined) return false;
      visit(node, { Node: (_, { anchor }: Node & { readonly anchor?: string }) => (anchor === undefined ? undefined : ((found = true), visit.BREAK)) });
      return found;
    },
  };
}
