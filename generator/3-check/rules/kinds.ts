/** Rules about a tool's kind and its description. */
import { show } from "../../diagnostics.js";
import type { Rule } from "../rule.js";

const SHORT_DESCRIPTION = 40;

export const metaKind: Rule = ({ catalog }, reporter) => {
  for (const tool of catalog.tools) {
    if (tool.kind !== "meta" || tool.origin !== "user") continue;
    reporter.report("VB2014", {}, { path: [...tool.at, "kind"] }, { tool: tool.name });
    const filters = tool.staticFilters.must.length + tool.staticFilters.mustNot.length;
    if (tool.query !== null || tool.parameters.length > 0 || filters > 0) reporter.report("VB2011", {}, { path: tool.at }, { tool: tool.name });
  }
};

export const collectionName: Rule = ({ catalog }, reporter) => {
  for (const [index, tool] of (catalog.parsed.value.tools ?? []).entries()) {
    const collection = tool?.target?.collection;
    if (collection === undefined || typeof collection === "string") continue;
    reporter.report("VB2015", { got: show(collection) }, { path: ["tools", index, "target", "collection"] }, { tool: tool.name });
  }
};

export const lookupLimit: Rule = ({ catalog }, reporter) => {
  for (const tool of catalog.tools) {
    if (tool.kind !== "lookup" || tool.output.limitDefault === 1) continue;
    const path = tool.output.limitDefaultOrigin === "stated" ? [...tool.output.at, "limit_default"] : tool.origin === "user" ? [...tool.at, "kind"] : tool.output.at;
    reporter.report("VB2006", { limit: tool.output.limitDefault }, { path }, { tool: tool.name });
  }
};

export const description: Rule = ({ catalog }, reporter) => {
  for (const tool of catalog.tools) {
    if (tool.origin !== "user" || catalog.parsed.broken.some((path) => path[1] === tool.at[1] && path[2] === "description")) continue;
    const text = tool.description.trim();
    const at = { path: [...tool.at, "description"] };
    const length = [...text].length;
    if (text.toLowerCase() === tool.name.replaceAll("_", " ")) reporter.report("VB3002", {}, at, { tool: tool.name });
    if (length < SHORT_DESCRIPTION) reporter.report("VB3001", { length }, at, { tool: tool.name });
  }
};
