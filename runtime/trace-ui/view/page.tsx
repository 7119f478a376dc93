/** The page: header, list, the open run, the inspector; and, before everything, the question for a token. */
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { useApp } from "./context.js";
import { Divider } from "./divider.js";
import { Header } from "./header.js";
import { Help } from "./help.js";
import { Inspector } from "./inspector.js";
import { onKey } from "./keys.js";
import { LazyView } from "./lazy.js";
import { ListPane } from "./list-pane.js";
import { MarkedStep } from "./mark-step.js";
import { RunPane } from "./run-pane.js";
import { TokenPrompt } from "./token-prompt.js";

export function Page(): JSX.Element {
  const app = useApp();
  useEffect(() => {
    const handler = (event: KeyboardEvent): void => onKey(app, event);
    addEventListener("keydown", handler);
    return () => removeEventListener("keydown", handler);
  }, [app]);
  const wanted = app.tokenWanted.value;
  const store = app.run.value;
  const { stepId } = app.route.value;
  return (
    <div class="page">
      <Header />
      {wanted !== null ? (
        <TokenPrompt reason={wanted} />
      ) : app.route.value.view !== "runs" ? (
        <main class="panes" data-view="list"><LazyView key={app.route.value.view} view={app.route.value.view} /></main>
      ) : (
        <main class="panes" data-view={store === null ? "list" : stepId === null ? "run" : "step"} style={{ "--list": app.widths.value.list === null ? "" : `${app.widths.value.list}px`, "--inspector": app.widths.value.inspector === null ? "" : `${app.widths.value.inspector}px` }}>
          <ListPane />
          {store !== null && <Divider side="list" label="Width of the list" from={240} to={900} />}
          {store !== null && <RunPane key={store.id} store={store} />}
          {store !== null && stepId !== null && <Divider side="inspector" label="Width of the step" from={280} to={1100} />}
          {store !== null && stepId !== null && <Inspector store={store} stepId={stepId} />}
        </main>
      )}
      <MarkedStep />
      {app.help.value && <Help />}
    </div>
  );
}
