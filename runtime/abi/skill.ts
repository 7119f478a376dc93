/**
 * The agent skill of a catalog: a SKILL.md about the tools that its reader may call. A build writes the parts, and this
 * file alone puts them together, for the folder of `build --skill` and for the callers of a server.
 * @see https://agentskills.io/specification
 */

/** The parts as a build prints them; texts are lists of lines. */
export interface SkillParts {
  /** Lower-case letters, digits and single hyphens, at most 64. */
  readonly name: string;
  /** What is between the parts that depend on the tools: the last line of each goes on with the part behind it. */
  readonly description: readonly string[];
  readonly amount: readonly string[];
  readonly start: readonly string[];
  readonly rest: readonly string[];
  /** In the order of tools/list. */
  readonly tools: readonly SkillTool[];
}

/** What the skill says of one tool. */
export interface SkillTool {
  readonly tool: string;
  /** First sentence of the description. */
  readonly summary: string;
  /** A call with the least arguments. */
  readonly call: readonly string[];
  /** Number of these arguments. */
  readonly needs: number;
  /** Signature and examples, from the heading on. */
  readonly section: readonly string[];
}

/** A SKILL.md and its front matter. */
export interface Skill {
  readonly name: string;
  /** At most 1024 characters. */
  readonly description: string;
  readonly text: string;
}

const MAX_DESCRIPTION = 1024;
const WHEN = " Use when a question is about these data and a program can combine or count rows.";

/** The skill for those who may call the tools that `mayCall` accepts; the others are not mentioned in it. */
export function skillOf(parts: SkillParts, mayCall: (tool: string) => boolean): Skill {
  const tools = parts.tools.filter(({ tool }) => mayCall(tool));
  const description = descriptionOf(tools);
  const [first] = [...tools].sort((a, b) => a.needs - b.needs);
  const pieces = [
    lines(parts.description), JSON.stringify(description),
    lines(parts.amount), `${tools.length} read-only ${tools.length === 1 ? "tool" : "tools"}`,
    lines(parts.start), first === undefined ? "" : lines(first.call),
    lines(parts.rest), ...tools.map(({ section }) => lines(section)),
  ];
  return { name: parts.name, description, text: pieces.join("") };
}

/** What the skill is for and when to use it: the first sentences of the tools, as many as fit. */
function descriptionOf(tools: readonly SkillTool[]): string {
  let text = "";
  for (const { summary } of tools) {
    if (text.length + summary.length + 1 + WHEN.length > MAX_DESCRIPTION) break;
    text += `${text === "" ? "" : " "}${summary}`;
  }
  return `${text}${WHEN}`;
}

function lines(text: readonly string[]): string {
  return text.join("\n");
}
