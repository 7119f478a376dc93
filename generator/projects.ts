/**
 * Several catalogs as one server. Each is compiled by itself; this file has only the rules between them: that no
 * tool's name is in two of them.
 */
import type { Compilation } from "./compile.js";
import { createLocator, createReporter } from "./diagnostics.js";

/** The compilations with what is wrong between them: a tool's name that an earlier catalog has is TS0220 in the later one. */
export function together(compilations: readonly Compilation[]): readonly Compilation[] {
  // Where a name is first: asked for only when there is a second one.
  const seen = new Map<string, () => string>();
  return compilations.map((compilation) => {
    const { resolved, source } = compilation;
    if (resolved === null) return compilation;
    const file = resolved.parsed.file.path;
    const reporter = createReporter(file);
    const locator = source === null ? () => null : createLocator(source);
    for (const { name, at, origin } of resolved.tools) {
      const named = { path: origin === "user" ? [...at, "name"] : at };
      const other = seen.get(name);
      if (other !== undefined) {
        reporter.report("TS0220", { name, other: other() }, named, { tool: name });
        continue;
      }
      seen.set(name, () => {
        const position = locator(named);
        return position === null ? file : `${file}:${position.line}:${position.column}`;
      });
    }
    if (reporter.diagnostics.length === 0) return compilation;
    return { ...compilation, value: null, diagnostics: [...compilation.diagnostics, ...reporter.diagnostics] };
  });
}
