/** trace.plans.ts: what the trace service shows of the tools, with the lines where their plans are printed. */
import type { ExplainedTools } from "../../runtime/abi/explained.js";
import type { Plans } from "../ir.js";
import { jsKey } from "./helpers.js";
import { literal } from "./literal.js";
import type { Render } from "./templates.js";
import { headerView } from "./view.js";

/** The file's text. `printed` is plans.ts of the same build. */
export function explainedText(plans: Plans, explained: ExplainedTools, printed: { readonly path: string; readonly text: string }, render: Render): string {
  const lines = planLines(printed.text);
  const placed = Object.fromEntries(Object.entries(explained).map(([tool, { source, ...rest }]) => {
    const line = lines.get(jsKey(tool));
    return [tool, { source, ...(line === undefined ? {} : { printed: `${printed.path}:${line}` }), ...rest }];
  }));
  return render("trace-plans", { ...headerView(plans), explained: literal(placed, 0, "export const explained = ".length) });
}

const PLANS = "export const plans = {";

/** The line of each plan, from 1, by its key as printed: the keys of the table are the only ones at its depth. */
function planLines(text: string): ReadonlyMap<string, number> {
  const lines = text.split("\n");
  const from = lines.indexOf(PLANS);
  const found = new Map<string, number>();
  for (const [index, line] of lines.entries()) {
    if (index <= from) continue;
    if (line.startsWith("}")) break;
    const key = /^ {2}(\S.*): \{$/.exec(line)?.[1];
    if (key !== undefined) found.set(key, index + 1);
  }
  return found;
}
