/** Small drawings in the colour of the text around them. */
import type { JSX } from "preact";
import type { SpanKind } from "../model/spans.js";
import type { RunStatus } from "../model/types.js";

const KINDS: { readonly [kind in SpanKind]: JSX.Element } = {
  agent: <path d="M8 1.5 13.6 4.8v6.4L8 14.5 2.4 11.2V4.8Z" />,
  chain: <path d="M8 1.8 14.2 8 8 14.2 1.8 8Z" />,
  tool: <rect x="2.2" y="2.2" width="11.6" height="11.6" rx="3" />,
  llm: <circle cx="8" cy="8" r="6.2" />,
  retriever: <path d="M1.6 2.6h12.8L8 14.2Z" />,
  run: <path d="M3.5 2v12l10-6Z" />,
  mark: <circle cx="8" cy="8" r="3" />,
};

const KIND_WORDS: { readonly [kind in SpanKind]: string } = { agent: "agent", chain: "chain", tool: "tool", llm: "model", retriever: "retriever", run: "run", mark: "event" };

export function kindWord(kind: SpanKind): string {
  return KIND_WORDS[kind];
}

export function KindIcon({ kind }: { kind: SpanKind }): JSX.Element {
  return (
    <svg class={`kind kind-${kind}`} viewBox="0 0 16 16" width="13" height="13" aria-hidden="true">
      {KINDS[kind]}
    </svg>
  );
}

const STATUS: { readonly [status in RunStatus]: JSX.Element } = {
  completed: <path d="m4.5 8.3 2.4 2.4 4.6-5" fill="none" stroke="currentColor" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round" />,
  failed: <path d="m5.2 5.2 5.6 5.6m0-5.6-5.6 5.6" fill="none" stroke="currentColor" stroke-width="1.7" stroke-linecap="round" />,
  running: <circle cx="8" cy="8" r="3" fill="currentColor" />,
};

export function StatusIcon({ status }: { status: RunStatus }): JSX.Element {
  return (
    <svg class={`status status-${status}`} viewBox="0 0 16 16" width="16" height="16" role="img" aria-label={status}>
      <circle class="disc" cx="8" cy="8" r="7" />
      {STATUS[status]}
    </svg>
  );
}

const GLYPHS = {
  search: <path d="m10.3 10.3 3.7 3.7M11.5 6.8a4.7 4.7 0 1 1-9.4 0 4.7 4.7 0 0 1 9.4 0Z" />,
  close: <path d="m4 4 8 8m0-8-8 8" />,
  chevron: <path d="m6 4 4 4-4 4" />,
  back: <path d="M9.5 3.5 5 8l4.5 4.5" />,
  plus: <path d="M8 3.5v9M3.5 8h9" />,
  minus: <path d="M3.5 8h9" />,
  compare: <path d="M5 2.5v11M11 2.5v11M2.5 6 5 3.5 7.5 6M8.5 10l2.5 2.5 2.5-2.5" />,
  list: <path d="M3 4.5h10M3 8h10M3 11.5h10" />,
  graph: <path d="M3 3h4v3H3ZM9 10h4v3H9ZM5 6v5.5h4" />,
  threads: <path d="M2.5 3.5h8v5h-5l-3 2.5ZM6 11h4.5l3 2V6" />,
  tools: <path d="M9.5 6.5 4 12l-1.5-1.5L8 5a3 3 0 0 1 4-2.7L10.3 4l1.7 1.7L13.7 4A3 3 0 0 1 9.5 6.5Z" />,
  chart: <path d="M2.5 13.5h11M4.5 11V8M8 11V4M11.5 11V6" />,
  settings: <path d="M8 5.8a2.2 2.2 0 1 0 0 4.4 2.2 2.2 0 0 0 0-4.4ZM8 2v1.6M8 12.4V14M2 8h1.6M12.4 8H14M3.8 3.8l1.1 1.1m6.2 6.2 1.1 1.1m0-8.4-1.1 1.1m-6.2 6.2-1.1 1.1" />,
  up: <path d="m4 10 4-4 4 4" />,
  down: <path d="m4 6 4 4 4-4" />,
  copy: <path d="M5.5 5.5v-3h8v8h-3m-8-5h8v8h-8Z" />,
  done: <path d="m3.5 8.5 3 3 6-7" />,
  export: <path d="M8 2.5v7.5m-3-3 3 3 3-3M3 13h10" />,
  remove: <path d="M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.6 9h5.8l.6-9" />,
  sun: <path d="M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6ZM8 1.5v1.2m0 10.6v1.2M1.5 8h1.2m10.6 0h1.2M3.4 3.4l.9.9m7.4 7.4.9.9m0-9.2-.9.9m-7.4 7.4-.9.9" />,
  moon: <path d="M13.2 9.7A5.7 5.7 0 0 1 6.3 2.8a5.7 5.7 0 1 0 6.9 6.9Z" />,
  system: <path d="M2.2 3h11.6v7.5H2.2ZM6 13.2h4M8 10.5v2.7" />,
  help: <path d="M6 6a2 2 0 1 1 2.9 1.8c-.6.3-.9.8-.9 1.5m0 2.3v.1" />,
  follow: <path d="M8 2.5v8m-3.5-3L8 11l3.5-3.5M3.5 13.5h9" />,
  fold: <path d="M3 8h10M5.5 3 8 5.5 10.5 3M5.5 13 8 10.5l2.5 2.5" />,
  unfold: <path d="M3 8h10M5.5 5 8 2.5 10.5 5M5.5 11 8 13.5l2.5-2.5" />,
  key: <path d="M9.8 9.2a3.3 3.3 0 1 0-2.6-2.6L2.5 11.3v2.2h2.2v-1.5h1.5v-1.5h1.6ZM11 5v.1" />,
  link: <path d="M6.5 9.5 9.5 6.5M7 4.8l1.3-1.3a3 3 0 0 1 4.2 4.2L11.2 9M9 11.2l-1.3 1.3a3 3 0 0 1-4.2-4.2L4.8 7" />,
} as const;

export type Glyph = keyof typeof GLYPHS;

export function Icon({ name }: { name: Glyph }): JSX.Element {
  return (
    <svg class="icon" viewBox="0 0 16 16" width="16" height="16" fill="none" stroke="currentColor" stroke-width="1.4" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">
      {GLYPHS[name]}
    </svg>
  );
}
