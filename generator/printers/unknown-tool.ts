/** The message for a tool name that the catalog does not have. */
import { nearestName } from "../../runtime/base/nearest.js";

/** Names that are listed; a larger catalog is not listed. */
const MAX_NAMES = 30;

/** `toolsrv test: tools.yaml has no tool 'x'; did you mean 'y'?` and a line with the existing names. */
export function unknownTool(command: string, catalog: string, tool: string, names: readonly string[]): string {
  const meant = nearestName(tool, names);
  const more = names.length > MAX_NAMES ? `, and ${names.length - MAX_NAMES} more` : "";
  const list = names.length === 0 ? "it has none" : `its tools: ${names.slice(0, MAX_NAMES).join(", ")}${more}`;
  return `toolsrv ${command}: ${catalog} has no tool '${tool}'${meant === null ? "" : `; did you mean '${meant}'?`}\n${list}\n`;
}
