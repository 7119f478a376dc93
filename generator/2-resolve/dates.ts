/**
 * Which fields of a tool's records are points in time. A filtering parameter of dtype datetime says it for every tool
 * that reads the same collection, and so does `dtypes`; a tool's own `dtypes` overrides what other tools say.
 */
import type { FieldTypes, ResolvedParameter, ResolvedTarget, ResolvedTool } from "../ir.js";

/** The tools with their `dates`, and those of their directories. */
export function withDates(tools: readonly ResolvedTool[]): readonly ResolvedTool[] {
  const said = new Map<string, Set<string>>();
  for (const tool of tools) {
    const target = targetOf(tool);
    if (tool.origin !== "user" || target === null || typeof target.collection !== "string") continue;
    const key = keyOf(target.connection, target.collection);
    said.set(key, new Set([...(said.get(key) ?? []), ...datesSaidBy(tool)]));
  }
  const datesIn = (connection: string, collection: string): readonly string[] => [...(said.get(keyOf(connection, collection)) ?? [])];
  return tools.map((tool) => {
    const target = targetOf(tool);
    const collection = typeof target?.collection === "string" ? target.collection : undefined;
    const ofOthers = target === null || collection === undefined ? [] : datesIn(target.connection, collection);
    const dates = [...new Set([...ofOthers.filter((path) => !Object.hasOwn(tool.dtypes, path)), ...datesOf(tool.dtypes)])].sort();
    const parameters = tool.parameters.map((parameter): ResolvedParameter => {
      const { resolve } = parameter;
      if (resolve === null) return parameter;
      const [where, what] = [resolve.connection ?? target?.connection ?? "", resolve.collection ?? collection ?? ""];
      const isOwn = where === target?.connection && what === collection;
      return { ...parameter, resolve: { ...resolve, dates: isOwn ? dates : datesIn(where, what).toSorted() } };
    });
    return { ...tool, dates, parameters };
  });
}

function targetOf({ target, steps }: ResolvedTool): ResolvedTarget | null {
  const retrieve = steps.find((step) => step.kind === "retrieve");
  return target ?? retrieve?.target ?? null;
}

function keyOf(connection: string, collection: string): string {
  return `${connection}\0${collection}`;
}

function datesSaidBy({ parameters, dtypes }: ResolvedTool): readonly string[] {
  const filtering = parameters.filter(({ dtype, path, op }) => dtype === "datetime" && (path !== null || op !== null));
  return [...filtering.map(({ path, name }) => path ?? name), ...datesOf(dtypes)];
}

function datesOf(dtypes: FieldTypes): readonly string[] {
  return Object.keys(dtypes).filter((path) => dtypes[path] === "datetime");
}
