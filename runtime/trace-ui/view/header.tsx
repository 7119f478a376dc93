import type { JSX } from "preact";
import { formatCount, formatNumber } from "../model/format.js";
import type { FeedState } from "../data/feed.js";
import type { Theme } from "../state/app.js";
import { useApp } from "./context.js";
import type { View } from "../model/route.js";
import { type Glyph, Icon } from "./icons.js";
import { Foreign, IconButton } from "./parts.js";

const THEMES: { readonly [theme in Theme]: readonly [Glyph, Theme] } = { system: ["system", "light"], light: ["sun", "dark"], dark: ["moon", "system"] };

export function Header(): JSX.Element {
  const app = useApp();
  const name = app.health.value?.project_name ?? null;
  const theme = app.theme.value;
  const [glyph, next] = THEMES[theme];
  return (
    <header class="header">
      <a class="brand" href="#/" aria-label={name === null ? "Traces" : `Traces ${name}`} onClick={(event) => { event.preventDefault(); app.closeRun(); }}>
        <svg viewBox="0 0 32 32" width="22" height="22" aria-hidden="true"><rect class="b1" x="2" y="6" width="26" height="5" rx="2.5" /><rect class="b2" x="8" y="14" width="14" height="5" rx="2.5" /><rect class="b3" x="14" y="22" width="12" height="5" rx="2.5" /></svg>
        <span>Traces</span>
        {name !== null && <span class="project"><Foreign text={name} /></span>}
      </a>
      <Nav />
      <Counters />
      <span class="spacer" />
      {app.tokenWanted.value === null && <Connection />}
      <IconButton name="settings" label="Settings" pressed={app.route.value.view === "settings"} onClick={() => app.show("settings")} />
      {app.hasToken.value && <IconButton name="key" label="Forget the token" onClick={() => app.forgetToken()} />}
      <IconButton name={glyph} label={`Theme: ${theme}`} shortcut="t" onClick={() => app.setTheme(next)} />
      <IconButton name="help" label="Keys" shortcut="?" onClick={() => (app.help.value = true)} />
    </header>
  );
}

const PLACES: readonly (readonly [View, Glyph, string])[] = [["runs", "list", "Runs"], ["sessions", "threads", "Sessions"], ["topology", "graph", "Topology"], ["tools", "tools", "Tools"], ["stats", "chart", "Stats"]];

function Nav(): JSX.Element {
  const app = useApp();
  return (
    <nav class="nav" aria-label="Views">
      {PLACES.map(([view, glyph, word], index) => (
        <a key={view} href={view === "runs" ? "#/" : `#/${view}`} aria-current={app.route.value.view === view ? "page" : undefined} title={`${word} (${index + 1})`} onClick={(event) => { if (event.ctrlKey || event.metaKey || event.shiftKey) return; event.preventDefault(); app.show(view); }}>
          <Icon name={glyph} /><span>{word}</span>
        </a>
      ))}
    </nav>
  );
}

function Counters(): JSX.Element | null {
  const stats = useApp().stats.value;
  if (stats === null) return null;
  const lost = stats.events_dropped + stats.events_throttled;
  const [runs, events] = [stats.total_runs === 1 ? "run" : "runs", stats.total_events === 1 ? "event" : "events"];
  const pressed = stats.queue_max > 0 && stats.queue_depth > stats.queue_max / 2;
  return (
    <ul class="counters" aria-label="Counters">
      <li title={`${formatNumber(stats.total_runs)} ${runs} stored`}><b>{formatCount(stats.total_runs)}</b> {runs}</li>
      <li class="counter-running" data-some={stats.running > 0}><b>{formatCount(stats.running)}</b> running</li>
      <li title={`${formatNumber(stats.total_events)} ${events} stored`} class="counter-events"><b>{formatCount(stats.total_events)}</b> {events}</li>
      {pressed && <li class="bad" title="Events that wait to be stored"><b>{formatCount(stats.queue_depth)}</b> queued</li>}
      {lost > 0 && <li class="bad" title={`${formatNumber(stats.events_dropped)} refused because the queue or the disk was full, ${formatNumber(stats.events_throttled)} beyond the cap of a run`}><b>{formatCount(lost)}</b> lost</li>}
    </ul>
  );
}

function Connection(): JSX.Element {
  const app = useApp();
  const state = app.feed.value;
  const text = connectionText(state, app.clock.value);
  return (
    <span class="connection" data-state={state.kind} role="status">
      <span class="dot" />
      <span class="connection-text">{text}</span>
      {state.kind === "waiting" && <button type="button" class="link" onClick={() => app.retry()}>Now</button>}
    </span>
  );
}

function connectionText(state: FeedState, nowMs: number): string {
  switch (state.kind) {
    case "live": return "Live";
    case "connecting": return "Connecting";
    case "waiting": return `Offline, again in ${Math.max(1, Math.ceil((state.atMs - nowMs) / 1000))} s`;
    case "refused": return "Token needed";
    case "closed": return "Closed";
    default: return state satisfies never;
  }
}
