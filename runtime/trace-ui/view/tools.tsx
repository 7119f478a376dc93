/** Tools by the server that they came from. */
import type { JSX } from "preact";
import { formatNumber } from "../model/format.js";
import { scopeParams } from "../model/scope.js";
import type { ToolInventory } from "../model/types.js";
import { useApp } from "./context.js";
import { useLoaded } from "./load.js";
import { Foreign, Notice } from "./parts.js";
import { ScopeSelect } from "./scope.js";

export default function ToolsView(): JSX.Element {
  const app = useApp();
  const { scope } = app.route.value;
  const { value, error } = useLoaded<ToolInventory>("tools", scopeParams(scope, app.now()), 15_000).value;
  const search = (tool: string): void => {
    app.show("runs");
    app.setFilters({ q: `"${tool.slice(0, 190).replaceAll('"', " ")}"`, inSteps: true });
  };
  return (
    <section class="view" aria-label="Tools">
      <header class="view-head"><h1>Tools</h1><ScopeSelect /></header>
      <div class="view-body" tabIndex={0} role="region" aria-label="Tools by server">
        {error !== null ? <Notice title="The tools can't be read" tone="error">{error}</Notice> : value === null ? <Notice title="Loading…" />
          : value.sources.length === 0 ? <Notice title="No tool was called yet">Tools appear here with their first call, or when a tracer registers those of an MCP server.</Notice>
            : value.sources.map((source) => (
              <section key={`${source.kind} ${source.source}`} class="card">
                <h2><Foreign text={source.source} /> <span class="quiet">{source.kind === "mcp" ? "MCP server" : "in the program"} · {formatNumber(source.tool_count)} {source.tool_count === 1 ? "tool" : "tools"} · {formatNumber(source.invocation_count)} calls</span>{source.error_count > 0 && <span class="bad"> {formatNumber(source.error_count)} failed</span>}</h2>
                <div class="table-scroll" tabIndex={0} role="region" aria-label={`Tools of ${source.source}`}>
                  <table class="even">
                    <thead><tr><th scope="col">Tool</th><th scope="col" class="num">Calls</th><th scope="col" class="num">Failed</th><th scope="col" class="num">Rate</th></tr></thead>
                    <tbody>
                      {source.tools.map((tool) => (
                        <tr key={tool.name}>
                          <th scope="row"><button type="button" class="link" title="Steps of this tool" onClick={() => search(tool.name)}><Foreign text={tool.name} /></button></th>
                          <td class="num">{tool.invocations === 0 ? <span class="quiet">never</span> : formatNumber(tool.invocations)}</td>
                          <td class={tool.errors > 0 ? "num bad" : "num"}>{formatNumber(tool.errors)}</td>
                          <td class="num">{tool.invocations === 0 ? "" : `${((100 * tool.errors) / tool.invocations).toFixed(tool.errors > 0 ? 1 : 0)} %`}</td>
                        </tr>
                      ))}
                    </tbody>
                  </table>
                </div>
              </section>
            ))}
      </div>
    </section>
  );
}
