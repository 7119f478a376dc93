/** Small parts that several views use. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { copyToClipboard } from "../data/browser.js";
import { type Glyph, Icon } from "./icons.js";

/** A button that is only a drawing; `label` is its name and its tooltip. */
export function IconButton({ name, label, pressed, disabled, onClick, shortcut }: { name: Glyph; label: string; pressed?: boolean; disabled?: boolean; onClick: () => void; shortcut?: string }): JSX.Element {
  return (
    <button type="button" class="icon-button" aria-label={label} title={shortcut === undefined ? label : `${label} (${shortcut})`} aria-pressed={pressed} disabled={disabled} onClick={onClick}>
      <Icon name={name} />
    </button>
  );
}

/** Copies a text and says for a moment that it did. */
export function CopyButton({ text, label }: { text: () => string; label: string }): JSX.Element {
  const done = useSignal<boolean | null>(null);
  const copy = async (): Promise<void> => {
    done.value = await copyToClipboard(text());
    setTimeout(() => (done.value = null), 1200);
  };
  return (
    <button type="button" class="icon-button copy" aria-label={label} title={label} data-done={done.value} onClick={() => void copy()}>
      <Icon name={done.value === true ? "done" : "copy"} />
      <span class="hidden" role="status">{done.value === true ? "Copied" : done.value === false ? "The browser does not let this page copy" : ""}</span>
    </button>
  );
}

/** Shown in the place of content that is missing. */
export function Notice({ title, children, tone }: { title: string; children?: ComponentChildren; tone?: "error" }): JSX.Element {
  return (
    <div class="notice" data-tone={tone} role={tone === "error" ? "alert" : "status"}>
      <strong>{title}</strong>
      {children}
    </div>
  );
}

/** Text of others: shown as it is, in its own direction, never as markup. */
export function Foreign({ text }: { text: string }): JSX.Element {
  return <bdi>{text}</bdi>;
}
