/**
 * What hosts of MCP servers do when they log in, as far as it decides whether they connect. One row a host; `auth
 * doctor` checks a server with them. Sources are public trackers; the dates say how old a fact is.
 */

export interface HostFacts {
  readonly name: string;
  /** Private-use schemes of its redirect address. */
  readonly schemes: readonly string[];
  /** What it needs of a server's metadata; the names of the checks in doctor.ts. */
  readonly needs: readonly HostNeed[];
  /** What an operator should know. */
  readonly note: string;
}

export type HostNeed = "https" | "protected-resource" | "suffixed-protected-resource" | "server-metadata" | "challenge" | "s256" | "registration" | "metadata-documents" | "public-clients" | "refresh" | "exact-resource" | "cors";

const BASIC: readonly HostNeed[] = ["https", "protected-resource", "server-metadata", "challenge", "s256", "public-clients", "refresh"];

/** As of November 2026. */
export const HOSTS: readonly HostFacts[] = [
  { name: "Claude (web, desktop)", schemes: ["claude"], needs: [...BASIC, "suffixed-protected-resource", "exact-resource", "registration"], note: "uses metadata documents only where the metadata says so and lists none; sends client_secret_post whatever is listed; sometimes stops after the login: see the timeline" },
  { name: "Claude Code", schemes: [], needs: [...BASIC, "registration", "metadata-documents"], note: "sends no resource; a loopback port that differs from the registered one" },
  { name: "ChatGPT", schemes: [], needs: [...BASIC, "metadata-documents"], note: "its metadata document prefers private_key_jwt and offers none" },
  { name: "Codex", schemes: [], needs: [...BASIC, "registration", "metadata-documents"], note: "sends resource at the token request only" },
  { name: "Cursor", schemes: ["cursor"], needs: [...BASIC, "registration"], note: "is called back at cursor://" },
  { name: "VS Code", schemes: ["vscode", "vscode-insiders"], needs: [...BASIC, "suffixed-protected-resource", "registration"], note: "registers port 33418 and may use another; keeps a registration after it was forgotten" },
  { name: "opencode", schemes: [], needs: [...BASIC, "registration", "metadata-documents"], note: "uses metadata documents only where none is listed" },
  { name: "Windsurf", schemes: ["windsurf"], needs: [...BASIC, "registration"], note: "is called back at windsurf://" },
  { name: "Raycast", schemes: ["raycast"], needs: [...BASIC, "registration"], note: "is called back at raycast://" },
  { name: "MCP Inspector (browser)", schemes: [], needs: [...BASIC, "registration", "cors"], note: "runs in a browser: it reads the answers across origins" },
];

/** Private-use schemes without a dot that a client may register: those of the hosts above. */
export const HOST_SCHEMES: readonly string[] = HOSTS.flatMap(({ schemes }) => schemes);
