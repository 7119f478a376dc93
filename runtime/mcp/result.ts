/** Results of tools/call as JSON text: payloads, and failures that the model can read. */
import type { Envelope } from "../abi/call.js";
import { failureText, type Failure } from "../abi/failure.js";
import type { ContentBlock } from "../abi/extra-tools.js";
import type { ProtocolVersion } from "./versions.js";

/** A successful result. The payload is serialized once and used twice: as text, and as it is. */
export function payloadResult(payload: object, version: ProtocolVersion): string {
  const text = JSON.stringify(payload);
  const structured = version.structured ? `,"structuredContent":${text}` : "";
  return `{"content":[{"type":"text","text":${JSON.stringify(text)}}]${structured},"isError":false}`;
}

/** `payloadResult` of payloads that are returned again and never change: serialized once per form, kept as long as the payload is. */
export function createFixedResults(): (payload: object, version: ProtocolVersion) => string {
  const made = { plain: new WeakMap<object, string>(), structured: new WeakMap<object, string>() };
  return (payload, version) => {
    const texts = version.structured ? made.structured : made.plain;
    const before = texts.get(payload);
    if (before !== undefined) return before;
    const text = payloadResult(payload, version);
    texts.set(payload, text);
    return text;
  };
}

/** A successful result that is content and nothing else. */
export function contentResult(content: readonly ContentBlock[]): string {
  return `{"content":${JSON.stringify(content)},"isError":false}`;
}

/**
 * `payloadResult` of an envelope, byte for byte. Its keys are known, so their text is written here once, plain and
 * quoted; only what varies is serialized, and only that is quoted a second time. A third less work per call.
 */
export function envelopeResult(envelope: Envelope, version: ProtocolVersion): string {
  const rows = JSON.stringify(envelope.rows);
  const { count, warnings, compiled_query: query, message } = envelope;
  const flags = flagsOf(envelope);
  const middle = warnings.length === 0 ? NO_WARNINGS : bothForms(JSON.stringify(warnings));
  const latency = String(envelope.latency_ms);
  const tail = query === null && message === null ? NO_TAIL : bothForms(`,"compiled_query":${JSON.stringify(query)},"message":${JSON.stringify(message)}}`);
  const quoted = `{\\"rows\\":${quote(rows)},\\"count\\":${count}${flags.quoted}${middle.quoted},\\"latency_ms\\":${latency}${tail.quoted}`;
  if (!version.structured) return `{"content":[{"type":"text","text":"${quoted}"}],"isError":false}`;
  return `{"content":[{"type":"text","text":"${quoted}"}],"structuredContent":{"rows":${rows},"count":${count}${flags.plain}${middle.plain},"latency_ms":${latency}${tail.plain},"isError":false}`;
}

/** A part of an envelope's JSON text. */
interface BothForms {
  readonly plain: string;
  /** As it is written inside a JSON string. */
  readonly quoted: string;
}

/** The usual values of what seldom varies. */
const NO_WARNINGS = bothForms("[]");
const NO_TAIL = bothForms(',"compiled_query":null,"message":null}');

function bothForms(plain: string): BothForms {
  return { plain, quoted: quote(plain) };
}

const MODES: readonly Envelope["search_mode"][] = ["dense", "hybrid", "none"];
const BITS = [false, true] as const;

/** What is between count and the value of warnings, by mode, then truncated, may_be_incomplete and exact_search: the order in which `flagsOf` counts. */
const FLAGS: readonly BothForms[] = MODES.flatMap((mode) => BITS.flatMap((truncated) => BITS.flatMap((incomplete) => BITS.map((exact) =>
  bothForms(`,"truncated":${truncated},"may_be_incomplete":${incomplete},"exact_search":${exact},"search_mode":"${mode}","warnings":`)))));

function flagsOf({ search_mode: mode, truncated, may_be_incomplete: incomplete, exact_search: exact }: Envelope): BothForms {
  const place = MODES.indexOf(mode) * 8 + (truncated ? 4 : 0) + (incomplete ? 2 : 0) + (exact ? 1 : 0);
  return FLAGS[place] as BothForms;
}

/** JSON text as it is written inside a JSON string. */
function quote(json: string): string {
  return json.includes('"') ? JSON.stringify(json).slice(1, -1) : json;
}

/** A failed call as a result that the model can read and act on. */
export function failureResult(failure: Failure): string {
  return JSON.stringify({ content: [{ type: "text", text: failureText(failure) }], isError: true });
}

/**
 * A result as a version has it: in the stateless protocol it says what kind of result it is and who answered.
 * @param result JSON text of an object with at least one key.
 */
export function finishResult(result: string, version: ProtocolVersion, serverInfo: string): string {
  if (version.era === "handshake") return result;
  return `{"resultType":"complete",${result.slice(1, -1)},"_meta":{"io.modelcontextprotocol/serverInfo":${serverInfo}}}`;
}
