/** Text of others: JSON as a tree, markdown as elements, anything else as it is; long texts in parts. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent, JSX } from "preact";
import { useEffect } from "preact/hooks";
import { type Json, parsed } from "../../trace/messages/message.js";
import { formatCount } from "../model/format.js";
import { JsonTree } from "./json-tree.js";

/** Characters that are shown before asking for more. */
const SHOWN = 6000;
/** Texts without any of these are the same as markdown and as text. */
const MARKS = /[*_`#>[\]|~]|^\s*(?:[-+]|\d+[.)])\s/m;

type MarkdownView = FunctionComponent<{ text: string }>;

export function RichText({ text, label }: { text: string; label: string }): JSX.Element {
  const whole = useSignal(false);
  const value = text.length < 500_000 ? parsed(text) : text;
  if (typeof value === "object" && value !== null) return <JsonTree value={value as Json} label={label} />;
  const cut = text.length > SHOWN && !whole.value;
  const shown = cut ? text.slice(0, SHOWN) : text;
  return (
    <>
      {shown.length <= 60_000 && MARKS.test(shown) ? <Marked text={shown} /> : <p class="plain"><bdi>{shown}</bdi></p>}
      {text.length > SHOWN && <button type="button" class="link" onClick={() => (whole.value = !whole.value)}>{cut ? `Show ${formatCount(text.length - SHOWN)} more characters` : "Show less"}</button>}
    </>
  );
}

/** One line of others, as the service cut it: markdown as elements, everything else as it is. */
export function ShortText({ text }: { text: string }): JSX.Element {
  return MARKS.test(text) ? <Marked text={text} /> : <bdi>{text}</bdi>;
}

function Marked({ text }: { text: string }): JSX.Element {
  const view = useSignal<{ readonly Markdown: MarkdownView } | null>(null);
  useEffect(() => {
    // The parser is loaded with the first text that needs it; the text is shown as it is until then.
    void import("./markdown.js").then((module) => (view.value = { Markdown: module.default }), () => undefined);
  }, []);
  if (view.value === null) return <p class="plain"><bdi>{text}</bdi></p>;
  const { Markdown } = view.value;
  return <bdi class="block"><Markdown text={text} /></bdi>;
}
