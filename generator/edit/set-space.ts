/** Writes the space of an embedding into a catalog's text, as an edit that keeps everything else. */
import { isAlias, isMap, isScalar, isSeq } from "yaml";
import type { Path } from "../ir.js";
import { applyEdits, type TextEdit } from "./text-edit.js";
import { editableYaml, entryOf, insertAfter, replaceScalar } from "./yaml-edit.js";

/** What is written where: the path of an embedding, and its space. */
export interface SpaceAt {
  readonly path: Path;
  readonly space: string;
  /** What an embedding that is written as a text means; without it such a one is left to the user. */
  readonly means?: { readonly provider: string; readonly model: string };
}

export interface SpacesSet {
  readonly text: string;
  /** Embeddings that are no text and no mapping of their own: an alias, or nothing at all. */
  readonly byHand: readonly SpaceAt[];
}

/** The text with each space set; the text itself where each is there already. The text must be a YAML map. */
export function setSpaces(text: string, spaces: readonly SpaceAt[]): SpacesSet {
  const yaml = editableYaml(text);
  const byHand: SpaceAt[] = [];
  const edits = spaces.flatMap((one): readonly TextEdit[] => {
    const map = nodeAt(yaml.doc.contents, one.path);
    const written = asMapping(map, one);
    if (written !== null) return [written];
    if (!isMap(map)) return (byHand.push(one), []);
    const before = entryOf(map, "space");
    if (before !== null && isScalar(before.value)) return before.value.value === one.space ? [] : [replaceScalar(before.value, one.space)];
    // Behind a key whose value is on one line: what follows a nested mapping would need its indentation.
    const [key] = ["model", "provider", "dims"].map((name) => entryOf(map, name)).filter((entry) => entry !== null && isScalar(entry.value));
    if (before !== null || key === undefined || key === null) return (byHand.push(one), []);
    return [insertAfter(yaml, map, key, "space", `"${one.space}"`)];
  });
  return { text: applyEdits(text, edits), byHand };
}

/** An embedding that is a text of one line, as the mapping that means the same and has the space; in a JSON file as JSON. */
function asMapping(node: unknown, { space, means }: SpaceAt): TextEdit | null {
  if (means === undefined || !isScalar(node) || node.anchor !== undefined || !isRange(node.range) || !["PLAIN", "QUOTE_SINGLE", "QUOTE_DOUBLE"].includes(String(node.type))) return null;
  const key = (name: string): string => (node.type === "QUOTE_DOUBLE" ? JSON.stringify(name) : name);
  const entries = Object.entries({ ...means, space }).map(([name, value]) => `${key(name)}: ${JSON.stringify(value)}`);
  const [start, end] = node.range;
  return start === end ? null : { offset: start, length: end - start, text: `{ ${entries.join(", ")} }` };
}

function isRange(range: unknown): range is readonly [start: number, end: number, after: number] {
  return Array.isArray(range);
}

/** The node at a path; null where an alias or nothing is on the way: an alias has other places that would change too. */
function nodeAt(root: unknown, path: Path): unknown {
  let node = root;
  for (const step of path) {
    if (isAlias(node)) return null;
    if (isMap(node)) node = entryOf(node, String(step))?.value ?? null;
    else if (isSeq(node)) node = typeof step === "number" ? node.items[step] : null;
    else return null;
  }
  return isAlias(node) ? null : node;
}
