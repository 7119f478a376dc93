/**
 * THE table of protocol versions: one row a version, one column a difference that concerns a tool server.
 * Code asks the row; nothing compares version names.
 */

export interface ProtocolVersion {
  readonly name: string;
  /** Several messages in one array. */
  readonly batching: boolean;
  /** Where a tool's title goes. */
  readonly title: "nowhere" | "annotations" | "tool";
  /** Tools carry `annotations`. */
  readonly annotations: boolean;
  /** Tools carry `outputSchema` and results `structuredContent`. */
  readonly structured: boolean;
}

export const VERSIONS: readonly ProtocolVersion[] = [
  { name: "2024-11-05", batching: false, title: "nowhere", annotations: false, structured: false },
  { name: "2025-03-26", batching: true, title: "annotations", annotations: true, structured: false },
  { name: "2025-06-18", batching: false, title: "tool", annotations: true, structured: true },
  { name: "2025-11-25", batching: false, title: "tool", annotations: true, structured: true },
];

/** Names for error data and documents, oldest first. */
export const SUPPORTED: readonly string[] = VERSIONS.map((version) => version.name);

/** The row of a version name, `null` for anything else. */
export function versionNamed(name: unknown): ProtocolVersion | null {
  return VERSIONS.find((version) => version.name === name) ?? null;
}

/** What HTTP clients speak that send no version header: the header came with the version after this one. */
export function versionWithoutHeader(): ProtocolVersion {
  return VERSIONS.find((version) => version.name === "2025-03-26") as ProtocolVersion;
}
