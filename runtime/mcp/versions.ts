/**
 * THE table of protocol versions: one row a version, one column a difference that concerns a tool server.
 * Code asks the row; nothing compares version names.
 */

export interface ProtocolVersion {
  readonly name: string;
  /**
   * `handshake`: initialize settles the version for what follows. `stateless`: every request carries version and
   * capabilities in its `_meta`, every result a resultType, and nothing is remembered between requests.
   */
  readonly era: "handshake" | "stateless";
  /** Several messages in one array. */
  readonly batching: boolean;
  /** Where a tool's title goes. */
  readonly title: "nowhere" | "annotations" | "tool";
  /** Tools carry `annotations`. */
  readonly annotations: boolean;
  /** Tools carry `outputSchema` and results `structuredContent`. */
  readonly structured: boolean;
  /** Progress notifications may carry a `message`. */
  readonly progressMessage: boolean;
}

export const VERSIONS: readonly ProtocolVersion[] = [
  { name: "2024-11-05", era: "handshake", batching: false, title: "nowhere", annotations: false, structured: false, progressMessage: false },
  { name: "2025-03-26", era: "handshake", batching: true, title: "annotations", annotations: true, structured: false, progressMessage: true },
  { name: "2025-06-18", era: "handshake", batching: false, title: "tool", annotations: true, structured: true, progressMessage: true },
  { name: "2025-11-25", era: "handshake", batching: false, title: "tool", annotations: true, structured: true, progressMessage: true },
  { name: "2026-07-28", era: "stateless", batching: false, title: "tool", annotations: true, structured: true, progressMessage: true },
];

/** Versions that initialize accepts, oldest first. */
export const HANDSHAKE_VERSIONS: readonly string[] = namesOf("handshake");

/** The newest version of the handshake for a client that asks for a later one; `null` for any other request. */
export function newestHandshake(asked: unknown): ProtocolVersion | null {
  const newest = HANDSHAKE_VERSIONS.at(-1) ?? "";
  // Version names are dates, so their order as texts is that of time.
  return typeof asked === "string" && /^\d{4}-\d\d-\d\d$/.test(asked) && asked > newest ? versionCalled(newest) : null;
}

/** Versions of HTTP, where both eras are served, oldest first. */
export const HTTP_VERSIONS: readonly string[] = VERSIONS.map((version) => version.name);

function namesOf(era: ProtocolVersion["era"]): readonly string[] {
  return VERSIONS.filter((version) => version.era === era).map((version) => version.name);
}

const BY_NAME: ReadonlyMap<unknown, ProtocolVersion> = new Map(VERSIONS.map((version) => [version.name, version]));

/** The row of a version name, `null` for anything else. */
export function versionCalled(name: unknown): ProtocolVersion | null {
  return BY_NAME.get(name) ?? null;
}

/** The row of a version name of one era, `null` for anything else. */
export function versionNamed(name: unknown, era: ProtocolVersion["era"]): ProtocolVersion | null {
  const version = versionCalled(name);
  return version?.era === era ? version : null;
}

/**
 * What HTTP clients speak that send no version header: the header came with the version after 2025-03-26. Many clients
 * of later versions leave it out too, so results carry structuredContent; older clients ignore keys they do not know.
 */
const WITHOUT_HEADER: ProtocolVersion = { ...(BY_NAME.get("2025-03-26") as ProtocolVersion), structured: true };

export function versionWithoutHeader(): ProtocolVersion {
  return WITHOUT_HEADER;
}
