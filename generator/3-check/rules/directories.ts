/** Rules about directories: parameters whose values are looked up among stored ones. */
import { CAPABILITIES } from "../../../runtime/adapters/capabilities.js";
import { directoriesOf, type Rule } from "../rule.js";

/** A directory is read by scrolling. */
export const scrolling: Rule = (subject, reporter) => {
  for (const { tool, parameter, connection } of directoriesOf(subject)) {
    if (connection === null || CAPABILITIES[connection.backend].scroll) continue;
    reporter.report("VB4021", { backend: connection.backend, connection: connection.name }, { path: [...parameter.at, "resolve", "kind"] }, { tool: tool.name });
  }
};

/** Another collection has other fields, so the tool's filters do not apply there; the directory needs its own. */
export const unfiltered: Rule = (subject, reporter) => {
  for (const { tool, parameter, resolve, collection, isOwn } of directoriesOf(subject)) {
    const filtered = tool.staticFilters.must.length + tool.staticFilters.mustNot.length > 0;
    const ownFilters = resolve.staticFilters.must.length + resolve.staticFilters.mustNot.length;
    if (isOwn || !filtered || ownFilters > 0) continue;
    reporter.report("TS0226", { name: parameter.name, collection }, { path: [...parameter.at, "resolve"], on: "key" }, { tool: tool.name });
  }
};
