/** Sessions as threads: what was asked and answered, run by run. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import { formatAgo, formatCost, formatCount, formatDuration, formatMoment, formatNumber } from "../model/format.js";
import { previewOf, titleOf } from "../model/run-list.js";
import type { RunPage, Session, SessionList } from "../model/types.js";
import { useApp } from "./context.js";
import { StatusIcon } from "./icons.js";
import { useLoaded } from "./load.js";
import { Foreign, Notice } from "./parts.js";
import { RichText } from "./rich-text.js";

const PAGE = 50;
/** Runs of a thread; older ones are in the list. */
const THREAD = 100;

export default function SessionsView(): JSX.Element {
  const app = useApp();
  const offset = useSignal(0);
  const { value, error } = useLoaded<SessionList>("sessions", { limit: PAGE, offset: offset.value }, 15_000).value;
  const chosen = useSignal<string | null>(null);
  return (
    <section class="view" aria-label="Sessions">
      <header class="view-head"><h1>Sessions</h1>{value !== null && <span class="quiet">{formatNumber(value.total)} in all</span>}</header>
      <div class="view-body" tabIndex={0} role="region" aria-label="All sessions">
        {error !== null ? <Notice title="The sessions can't be read" tone="error">{error}</Notice> : value === null ? <Notice title="Loading…" />
          : value.sessions.length === 0 ? <Notice title="No sessions yet">A run with a <code>session_id</code> (<code>gen_ai.conversation.id</code> or <code>session.id</code> in OpenTelemetry, <code>thread_id</code> in LangGraph) is shown here with the others of its session.</Notice>
            : value.sessions.map((session) => <SessionCard key={session.session_id} session={session} nowMs={app.clock.value} open={(chosen.value ?? value.sessions[0]?.session_id) === session.session_id} onToggle={() => (chosen.value = (chosen.value ?? value.sessions[0]?.session_id) === session.session_id ? "" : session.session_id)} />)}
        {value !== null && value.total > PAGE && (
          <p class="pager">
            <button type="button" disabled={offset.value === 0} onClick={() => (offset.value = Math.max(0, offset.value - PAGE))}>Newer</button>
            <span>{formatNumber(offset.value + 1)}–{formatNumber(Math.min(value.total, offset.value + PAGE))}</span>
            <button type="button" disabled={offset.value + PAGE >= value.total} onClick={() => (offset.value += PAGE)}>Older</button>
          </p>
        )}
      </div>
    </section>
  );
}

function SessionCard({ session, nowMs, open, onToggle }: { session: Session; nowMs: number; open: boolean; onToggle: () => void }): JSX.Element {
  const app = useApp();
  const tokens = session.total_tokens_input + session.total_tokens_output;
  return (
    <section class="card session">
      <h2>
        <button type="button" class="session-head" aria-expanded={open} onClick={onToggle}>
          <span class="session-id"><Foreign text={session.session_id} /></span>
          <span class="quiet">{formatNumber(session.run_count)} {session.run_count === 1 ? "run" : "runs"}</span>
          {session.failed_count > 0 && <span class="bad">{formatNumber(session.failed_count)} failed</span>}
          {session.user_id !== null && <span class="quiet">user <Foreign text={session.user_id} /></span>}
          {tokens > 0 && <span class="quiet">{formatCount(tokens)} tokens</span>}
          {session.cost_usd !== null && <span class="quiet">{formatCost(session.cost_usd)}</span>}
          <time class="quiet" datetime={session.last_at} title={formatMoment(Date.parse(session.last_at), app.utc.value)}>{formatAgo(Date.parse(session.last_at), nowMs)}</time>
        </button>
      </h2>
      {open && <Thread session={session.session_id} />}
    </section>
  );
}

function Thread({ session }: { session: string }): JSX.Element {
  const app = useApp();
  const { value, error } = useLoaded<RunPage>("runs", { extended: 1, session, limit: THREAD }, 10_000).value;
  if (error !== null) return <Notice title="The session can't be read" tone="error">{error}</Notice>;
  if (value === null) return <p class="quiet">Loading…</p>;
  return (
    <div class="thread">
      {value.total > value.runs.length && <p><button type="button" class="link" onClick={() => { app.show("runs"); app.setFilters({ session }); }}>{formatNumber(value.total - value.runs.length)} earlier runs are in the list</button></p>}
      {[...value.runs].reverse().map((run) => (
        <article key={run.run_id} class="turn">
          <p class="turn-head"><StatusIcon status={run.status} /><button type="button" class="link" onClick={() => app.openRun(run.run_id)}><Foreign text={titleOf(run)} /></button><span class="quiet">{formatMoment(Date.parse(run.started_at), app.utc.value)}{run.duration_ms !== null && ` · ${formatDuration(run.duration_ms)}`}</span></p>
          {previewOf(run) !== "" && <div class="bubble" data-role="user"><RichText text={previewOf(run)} label="Question" /></div>}
          {run.status === "failed" ? <div class="bubble" data-role="other" data-error="true"><p class="plain bad"><bdi>{run.error_message ?? "failed"}</bdi></p></div>
            : run.answer !== null && <div class="bubble" data-role="assistant"><RichText text={run.answer} label="Answer" /></div>}
        </article>
      ))}
    </div>
  );
}
