/** A call as a conversation: earlier messages folded, the new ones and the answer open, calls with their results. */
import { useSignal } from "@preact/signals";
import type { JSX } from "preact";
import type { Json, Message, ToolCall } from "../../trace/messages/message.js";
import { type Chat, isJoined } from "../model/chat.js";
import { formatCount } from "../model/format.js";
import { JsonTree } from "./json-tree.js";
import { CopyButton, Foreign } from "./parts.js";
import { RichText } from "./rich-text.js";

/** Messages drawn at once; a conversation may have thousands. */
const SHOWN = 40;

export function ChatView({ chat, open }: { chat: Chat; open: boolean }): JSX.Element {
  const unfolded = useSignal(false);
  const earlier = chat.earlier.filter((message) => !isJoined(message, chat));
  return (
    <div class="chat">
      {earlier.length > 0 && (
        <button type="button" class="earlier" aria-expanded={unfolded.value} onClick={() => (unfolded.value = !unfolded.value)}>
          {unfolded.value ? "Hide" : "Show"} {formatCount(earlier.length)} earlier {earlier.length === 1 ? "message" : "messages"}
        </button>
      )}
      {unfolded.value && <Messages messages={earlier} chat={chat} />}
      <Messages messages={chat.fresh.filter((message) => !isJoined(message, chat))} chat={chat} />
      {chat.output.length > 0 ? <h3 class="chat-answer">Answer</h3> : open && <p class="quiet" role="status">No answer yet</p>}
      <Messages messages={chat.output.filter((message) => !isJoined(message, chat))} chat={chat} />
    </div>
  );
}

function Messages({ messages, chat }: { messages: readonly Message[]; chat: Chat }): JSX.Element {
  const limit = useSignal(SHOWN);
  const hidden = messages.length - limit.value;
  return (
    <>
      {hidden > 0 && <button type="button" class="link" onClick={() => (limit.value += 200)}>{formatCount(hidden)} more before these</button>}
      {messages.slice(-limit.value).map((message, index) => <Bubble key={index} message={message} chat={chat} />)}
    </>
  );
}

const ROLES: { readonly [role: string]: string } = { system: "System", user: "User", assistant: "Assistant", tool: "Tool" };
/** Instructions longer than this start folded: they are the same in every call. */
const SYSTEM_SHOWN = 160;

function Bubble({ message, chat }: { message: Message; chat: Chat }): JSX.Element {
  const known = Object.hasOwn(ROLES, message.role);
  const long = message.role === "system" && message.text.length > SYSTEM_SHOWN;
  const unfolded = useSignal(!long);
  return (
    <article class="bubble" data-role={known ? message.role : "other"} data-error={message.is_error}>
      <header>
        <span class="bubble-role">{known ? ROLES[message.role] : <Foreign text={message.role} />}</span>
        {message.name !== null && <span class="bubble-name"><Foreign text={message.name} /></span>}
        {message.is_error && <span class="bad">failed</span>}
        {long && <button type="button" class="link" aria-expanded={unfolded.value} onClick={() => (unfolded.value = !unfolded.value)}>{unfolded.value ? "Less" : "All"}</button>}
        {message.text !== "" && <CopyButton label="Copy the message" text={() => message.text} />}
      </header>
      {message.reasoning !== "" && <details class="reasoning"><summary>Reasoning</summary><RichText text={message.reasoning} label="Reasoning" /></details>}
      {message.text !== "" && (unfolded.value ? <RichText text={message.text} label="Message" /> : <p class="plain"><bdi>{message.text.slice(0, SYSTEM_SHOWN)}…</bdi></p>)}
      {message.images.map(({ url }, index) => <Picture key={index} url={url} />)}
      {message.tool_calls.map((call, index) => <Call key={call.id ?? index} call={call} result={call.id === null ? undefined : chat.results.get(call.id)} />)}
      {message.other.map((part, index) => <JsonTree key={index} value={part} label="Part of another kind" />)}
      {message.text === "" && message.reasoning === "" && message.images.length + message.tool_calls.length + message.other.length === 0 && <p class="quiet">empty</p>}
    </article>
  );
}

function Call({ call, result }: { call: ToolCall; result: Message | undefined }): JSX.Element {
  return (
    <div class="call" data-error={result?.is_error === true}>
      <p class="call-head"><span class="call-name"><Foreign text={call.name} /></span>{call.id !== null && <span class="call-id mono" title={call.id}><Foreign text={call.id} /></span>}</p>
      <Value value={call.arguments} label={`Arguments of ${call.name}`} />
      {result !== undefined && (
        <div class="call-result">
          <p class="call-word">{result.is_error ? "Failed" : "Result"}</p>
          {result.text !== "" && <RichText text={result.text} label={`Result of ${call.name}`} />}
          {result.images.map(({ url }, index) => <Picture key={index} url={url} />)}
          {result.other.map((part, index) => <JsonTree key={index} value={part} label="Part of another kind" />)}
        </div>
      )}
    </div>
  );
}

function Value({ value, label }: { value: Json; label: string }): JSX.Element | null {
  if (typeof value === "string") return value === "" ? null : <RichText text={value} label={label} />;
  if (typeof value === "object" && value !== null && Object.keys(value).length === 0) return <p class="quiet">no arguments</p>;
  return <JsonTree value={value} label={label} />;
}

/** Pictures that came with the payload are shown; those of other hosts are only named. */
function Picture({ url }: { url: string }): JSX.Element {
  if (/^data:image\/(png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]*$/.test(url)) return <img class="picture" src={url} alt="Part of the message" loading="lazy" />;
  return <p class="picture">[image: <bdi>{url.length > 200 ? `${url.slice(0, 200)}…` : url}</bdi>]</p>;
}
