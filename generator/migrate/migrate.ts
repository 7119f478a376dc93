/**
 * Version 1 → 2 of a catalog: `tds_version` is '2', each tool's bare list of static filters becomes `must` of an object,
 * and `meta` is there. Lists that a tool inherits by a merge key, and those of `builtin_defaults`, are valid in both
 * versions and stay as they are.
 */
import { isAlias, isMap, isScalar, isSeq } from "yaml";
import { applyEdits, type TextEdit } from "../edit/text-edit.js";
import { editableYaml, entryOf, insertAfter, insertFirst, mapsOf, replaceScalar, wrapList, type EditableYaml } from "../edit/yaml-edit.js";

export interface Migrated {
  readonly text: string;
  /** How many lists of static filters were wrapped. */
  readonly lists: number;
}

/** A place that the user has to change by hand; `line` is 1-based. */
export interface NotMigrated {
  readonly line: number;
  readonly because: string;
}

/** The migrated text; the same text when it is version 2 already. The text must be a YAML map. */
export function migrate(text: string): Migrated | NotMigrated {
  const yaml = editableYaml(text);
  const root = yaml.doc.contents;
  if (!isMap(root)) return { line: 1, because: "the file is not a mapping" };
  const version = entryOf(root, "tds_version");
  const stated = isAlias(version?.value) ? version.value.resolve(yaml.doc) : version?.value;
  if (isScalar(stated) && stated.source?.replace(/^['"]|['"]$/g, "") === "2") return { text, lists: 0 };

  const edits: TextEdit[] = [];
  const hasMeta = entryOf(root, "meta") !== null;
  if (version !== null && isScalar(version.value)) {
    edits.push(replaceScalar(version.value, "2"));
    if (!hasMeta) edits.push(insertAfter(yaml, root, version, "meta", "{}"));
  } else if (version !== null) {
    return { line: lineOf(text, version.key.range?.[0] ?? 0), because: "tds_version is written as an alias" };
  } else {
    edits.push(insertFirst(yaml, root, "tds_version", "'2'"));
    if (!hasMeta) edits.push(insertFirst(yaml, root, "meta", "{}"));
  }
  const wrapped = wrapLists(yaml, entryOf(root, "tools")?.value);
  if ("because" in wrapped) return wrapped;
  return { text: applyEdits(text, [...edits, ...wrapped.edits]), lists: wrapped.lists };
}

function wrapLists(yaml: EditableYaml, tools: unknown): { readonly edits: readonly TextEdit[]; readonly lists: number } | NotMigrated {
  const edits: TextEdit[] = [];
  let lists = 0;
  for (const tool of mapsOf(yaml.doc, tools)) {
    const entry = entryOf(tool, "static_filters");
    const value = isAlias(entry?.value) ? entry.value.resolve(yaml.doc) : entry?.value;
    if (entry === null || !isSeq(value)) continue;
    const wrapped = wrapList(yaml, entry, "must");
    if ("because" in wrapped) return { line: lineOf(yaml.text, wrapped.offset), because: wrapped.because };
    edits.push(...wrapped);
    lists += 1;
  }
  return { edits, lists };
}

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}
