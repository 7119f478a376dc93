/** Where the whole text of a run's question and answer is: the service keeps one line of each. */
import type { Hints } from "../../trace/messages/normalise.js";
import { oneLine, saidIn } from "../../trace/messages/preview.js";
import { hintKind } from "./chat.js";
import type { Json } from "./payload.js";
import type { Tree } from "./tree.js";
import type { Step } from "./types.js";

export type Side = Hints["side"];

/** A step whose payload may hold the text. */
export interface SaidSource {
  readonly step: Step;
  readonly kind: Hints["kind"];
}

/** A shorter line is seen whole, or nearly so. */
const SHORT = 100;

/** Whether there is more than the line shows. */
export function isCutShort(line: string): boolean {
  return line.endsWith("…") || line.length > SHORT;
}

/** In the order in which the service looks for them: the root, then the first model that was asked, or the last one that answered. */
export function saidSources(tree: Tree, side: Side): readonly SaidSource[] {
  const [root] = tree.nodes;
  const models = tree.nodes.filter(({ span }) => span.kind === "llm");
  return [root, ...(side === "input" ? models : models.reverse())].flatMap((node) => {
    const step = side === "input" ? node?.span.start : node?.span.end;
    return node === undefined || step == null || step.blob_path === null ? [] : [{ step, kind: hintKind(node.span.kind) }];
  });
}

/** The text that `line` is the beginning of; `null` when the payload holds another one. */
export function wholeText(payload: Json, side: Side, kind: Hints["kind"], line: string): string | null {
  const text = saidIn(payload, { side, kind });
  return text !== null && oneLine(text) === line ? text : null;
}
