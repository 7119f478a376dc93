/** Notifications to a peer between a request and its answer: progress of a call, and log messages. */
import type { Severity } from "../abi/extra-tools.js";
import type { ObservedStep } from "../abi/observer.js";
import { metaOf, notificationText, type Params } from "./jsonrpc.js";
import type { Peer } from "./server.js";
import type { ProtocolVersion } from "./versions.js";

/** Severities of notifications/message, the least first. */
export const SEVERITIES: readonly Severity[] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

/** From where on the messages of a tool are sent to a peer that has not said what it wants. */
const UNASKED_FROM: Severity = "info";

/** Sends an event that the answer shows too, if the peer has asked for events of this severity. */
export function tell(peer: Peer, level: Severity, data: { readonly [key: string]: unknown }): void {
  if (peer.logLevel !== null) message(peer, peer.logLevel, level, data);
}

/**
 * Sends what a tool itself has to say. A handshake client that never set a level gets what matters, as the protocol
 * leaves it to the server; the stateless protocol forbids it, and its logging is deprecated and not declared here.
 */
export function tellFromTool(peer: Peer, version: ProtocolVersion, level: Severity, data: unknown): void {
  if (version.era === "handshake") message(peer, peer.logLevel ?? UNASKED_FROM, level, data);
}

function message(peer: Peer, from: Severity, level: Severity, data: unknown): void {
  if (SEVERITIES.indexOf(level) < SEVERITIES.indexOf(from)) return;
  peer.notify(notificationText("notifications/message", { level, logger: "toolsrv", data }));
}

export type ProgressToken = string | number;

/** The token of a request that wants to hear of its progress, `null` when there is none that could be sent back. */
export function progressTokenOf(params: Params): ProgressToken | null {
  const token = metaOf(params)["progressToken"];
  return typeof token === "string" || Number.isSafeInteger(token) ? (token as ProgressToken) : null;
}

/** Progress of one call, sent to its peer: the number always grows, and nothing is sent once the call is over. */
export class Progress {
  private last = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly peer: Peer,
    private readonly version: ProtocolVersion,
    private readonly token: ProgressToken,
  ) {}

  /** One more step is done. They are not counted beforehand: a pipeline may retrieve more than once. */
  readonly step = (step: ObservedStep): void => this.send(Math.max(this.last, 0) + 1, undefined, stepText(step));

  send(done: number, total: number | undefined, what: string | undefined): void {
    if (!(done > this.last)) return;
    this.last = done;
    const more = { ...(total === undefined ? {} : { total }), ...(what === undefined || !this.version.progressMessage ? {} : { message: what }) };
    this.peer.notify(notificationText("notifications/progress", { progressToken: this.token, progress: done, ...more }));
  }

  end(): void {
    this.last = Number.POSITIVE_INFINITY;
  }
}

/** What is done, in a text that shows nothing of the catalog or of the rows. */
function stepText({ kind, operation }: ObservedStep): string {
  if (kind === "embed") return "query embedded";
  if (kind === "pipeline") return `${operation} done`;
  return operation === "count" ? "rows counted" : "store read";
}
