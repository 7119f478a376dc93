/** Rules about connections and references to them. */
import { CAPABILITIES } from "../../../runtime/adapters/capabilities.js";
import { nearestName } from "../../../runtime/base/nearest.js";
import { SECRET_SOURCES } from "../../../runtime/secrets/descriptors.js";
import type { Reporter } from "../../diagnostics.js";
import type { Path } from "../../ir.js";
import type { Rule, Subject } from "../rule.js";

export const knownConnections: Rule = (subject, reporter) => {
  for (const tool of subject.catalog.tools) {
    if (tool.origin !== "user") continue;
    if (tool.target !== null) mustExist(subject, reporter, tool.target.connection, [...tool.target.at, "connection"], tool.name);
    for (const step of tool.steps) {
      if (step.kind === "retrieve") mustExist(subject, reporter, step.target.connection, [...step.target.at, "connection"], tool.name);
    }
    for (const { resolve, at } of tool.parameters) {
      const name = resolve?.connection ?? null;
      if (name !== null) mustExist(subject, reporter, name, [...at, "resolve", "connection"], tool.name);
    }
  }
};

function mustExist(subject: Subject, reporter: Reporter, name: string, path: Path, tool: string): void {
  if (subject.declared.has(name)) return;
  const guess = nearestName(name, subject.declared);
  const known = [...subject.declared].join(", ");
  const help = guess !== null ? `did you mean '${guess}'?` : known === "" ? "declare it under connections" : `declared: ${known}`;
  reporter.report("TS0201", { name }, { path }, { tool, help });
}

export const experimental: Rule = ({ catalog }, reporter) => {
  for (const { name, at, backend } of catalog.connections) {
    if (CAPABILITIES[backend].supportLevel === "experimental") reporter.report("VB2024", { backend, connection: name }, { path: at, on: "key" });
  }
};

export const credentials: Rule = ({ catalog }, reporter) => {
  for (const { name, at, credentials: { provider, fields } } of catalog.connections) {
    const where = { path: [...at, "credentials"] };
    for (const [key, { missing }] of Object.entries(SECRET_SOURCES[provider].settings)) {
      if (missing !== undefined && !isGiven(fields[key])) reporter.report(missing, {}, where);
    }
    for (const other of Object.keys(catalog.parsed.value.connections[name]?.credentials ?? {})) {
      if (other === "provider" || other === provider || !Object.hasOwn(SECRET_SOURCES, other)) continue;
      reporter.report("TS0251", { other, provider }, { path: [...at, "credentials", other], on: "key" });
    }
  }
};

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== "";
}
