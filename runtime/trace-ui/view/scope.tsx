/** Whose calls a view shows: all, or those of the newest runs. */
import type { JSX } from "preact";
import { useApp } from "./context.js";

const SCOPES: readonly (readonly [string, string])[] = [["all", "All runs"], ["last_n:5", "Last 5 runs"], ["last_n:20", "Last 20 runs"], ["last_n:100", "Last 100 runs"], ["last_n:1000", "Last 1,000 runs"]];

export function ScopeSelect(): JSX.Element {
  const app = useApp();
  const { scope, view } = app.route.value;
  const own = SCOPES.some(([value]) => value === scope) ? [] : [[scope, scope.startsWith("run:") ? `Run ${scope.slice(4)}` : scope] as const];
  return (
    <label class="select">
      <span>Scope</span>
      <select value={scope} onChange={(event) => app.show(view, { scope: event.currentTarget.value })}>
        {[...SCOPES, ...own].map(([value, word]) => <option key={value} value={value}>{word}</option>)}
      </select>
    </label>
  );
}
