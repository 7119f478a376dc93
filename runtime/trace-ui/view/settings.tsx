/** What the reader chooses for this browser, and what the service says of itself. */
import type { JSX } from "preact";
import { formatDuration } from "../model/format.js";
import type { PriceList } from "../model/types.js";
import type { Theme } from "../state/app.js";
import { useApp } from "./context.js";
import { useLoaded } from "./load.js";
import { Foreign } from "./parts.js";

const THEMES: readonly (readonly [Theme, string])[] = [["system", "As the system"], ["light", "Light"], ["dark", "Dark"]];

export default function SettingsView(): JSX.Element {
  const app = useApp();
  const health = app.health.value;
  const stats = app.stats.value;
  return (
    <section class="view" aria-label="Settings">
      <header class="view-head"><h1>Settings</h1></header>
      <div class="view-body" tabIndex={0} role="region" aria-label="All settings">
        <section class="card"><h2>Theme</h2>
          <div class="switch" role="group" aria-label="Theme">{THEMES.map(([theme, word]) => <button key={theme} type="button" aria-pressed={app.theme.value === theme} onClick={() => app.setTheme(theme)}>{word}</button>)}</div>
        </section>
        <section class="card"><h2>Times</h2>
          <div class="switch" role="group" aria-label="Time zone">{([[false, `This computer (${Intl.DateTimeFormat().resolvedOptions().timeZone})`], [true, "UTC"]] as const).map(([utc, word]) => <button key={word} type="button" aria-pressed={app.utc.value === utc} onClick={() => app.setUtc(utc)}>{word}</button>)}</div>
        </section>
        <section class="card"><h2>Access token</h2>
          {app.hasToken.value
            ? <><p>A token is kept in this tab until it is closed.</p><p><button type="button" onClick={() => app.forgetToken()}>Forget the token</button></p></>
            : <p>This service was opened without a token. It asks for one when it needs it.</p>}
        </section>
        <section class="card"><h2>Prices</h2>
          <Prices />
        </section>
        <section class="card"><h2>Service</h2>
          <dl class="figures">
            {health !== null && <div><dt>Version</dt><dd>{health.version}</dd></div>}
            {health?.project_name != null && <div><dt>Project</dt><dd><Foreign text={health.project_name} /></dd></div>}
            {stats !== null && <div><dt>Up for</dt><dd>{formatDuration(stats.uptime_s * 1000)}</dd></div>}
            <div><dt>Live feed</dt><dd>{app.feed.value.kind}</dd></div>
            <div><dt>API</dt><dd><a href="../docs" target="_blank" rel="noopener">Documentation</a>, <a href="../openapi.json" target="_blank" rel="noopener">OpenAPI</a></dd></div>
          </dl>
        </section>
      </div>
    </section>
  );
}

/** The prices in force: those of the settings, and the list prices below them. */
function Prices(): JSX.Element {
  const { value, error } = useLoaded<PriceList>("prices").value;
  return (
    <>
      <p>Dollars per million tokens, found by the longest start of a model's name. <code>model_prices</code> in the settings of the service has precedence over its list prices{value !== null && ` of ${value.as_of}`}, which are estimates. A model without a price has no cost.</p>
      {error !== null && <p class="bad" role="alert">{error}</p>}
      {value !== null && (
        <div class="table-scroll price-list" tabIndex={0} role="region" aria-label="Prices of models">
          <table>
            <thead><tr><th scope="col">Model</th><th scope="col" class="num">Input</th><th scope="col" class="num">Output</th><th scope="col">From</th></tr></thead>
            <tbody>{[...value.prices].sort((a, b) => Number(b.own) - Number(a.own)).map((row) => <tr key={row.model}><th scope="row"><Foreign text={row.model} /></th><td class="num">{row.input}</td><td class="num">{row.output}</td><td>{row.own ? "settings" : "list"}</td></tr>)}</tbody>
          </table>
        </div>
      )}
    </>
  );
}
