/** The catalogs of one server, running: each with its own stores, limits and rules, and one decision who sees which. */
import type { Principal } from "../abi/call.js";
import type { Project } from "../abi/projects.js";
import { projectOf, type Routing } from "../access/project.js";
import type { McpServer } from "../mcp/server.js";
import { StartError } from "../config/exit.js";

/** One catalog as it is served. */
export interface ServedProject {
  readonly name: string;
  readonly mcp: McpServer;
}

/** What a transport needs of the catalogs behind it. */
export interface ServedProjects {
  /** In the order they were given. */
  readonly all: readonly ServedProject[];
  /** The catalog that a caller sees; `null` for a caller who sees none. */
  of(principal: Principal): McpServer | null;
}

/**
 * @param claim of --route-by-claim.
 * @throws StartError when the default is none of the projects.
 */
export function routingOf(projects: readonly Project[], defaultProject: string | null, claim: string | null = null): Routing {
  const names = projects.map(({ name }) => name);
  const [first] = names;
  if (first === undefined) throw new TypeError("a server has at least one catalog");
  if (defaultProject !== null && !names.includes(defaultProject)) {
    throw new StartError(`--default-project names no catalog of this server: '${defaultProject}'; there ${names.length === 1 ? "is" : "are"} ${names.join(", ")}`);
  }
  return { projects: names, fallback: defaultProject ?? first, claim };
}

export function servedProjects(all: readonly ServedProject[], routing: Routing): ServedProjects {
  const byName = new Map(all.map(({ name, mcp }) => [name, mcp]));
  return {
    all,
    of(principal) {
      const name = projectOf(routing, principal.claims);
      return name === null ? null : (byName.get(name) ?? null);
    },
  };
}
