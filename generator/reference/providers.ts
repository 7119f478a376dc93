/** docs/reference/providers.md: who embeds, reranks and expands, and who has credentials, from the descriptors that compiler and runtime ask. */
import type { ProviderDescriptor } from "../../runtime/abi/provider.js";
import { EMBEDDERS } from "../../runtime/embed/descriptors.js";
import { EXPANDERS } from "../../runtime/expand/descriptors.js";
import { RERANKERS } from "../../runtime/rerank/descriptors.js";
import { SECRET_SOURCES } from "../../runtime/secrets/descriptors.js";
import { HEADER, cell, code, table } from "./markdown.js";

/** The page. */
export function providersPage(): string {
  const lengths = Object.values(EMBEDDERS).flatMap(({ name, dims }) => Object.entries(dims).map(([model, length]) => [code(model), name, String(length)]));
  return [
    HEADER,
    "# Providers\n\nWho turns texts into vectors, puts rows in a better order, and rewrites queries. Catalogs whose provider lacks a setting that it needs are refused at build (TS0252). [How they are used](../embedding.md).\n",
    section("Embedding: `defaults.embedding`, `query.embedding`", Object.values(EMBEDDERS)),
    "\n### Vector lengths that are known\n\nOther models need `dims`.\n\n",
    table(["model", "provider", "length"], lengths),
    section("Reranking: `rerank`", Object.values(RERANKERS)),
    section("Query expansion: `query.expand`", Object.values(EXPANDERS)),
    credentials(),
  ].join("");
}

function credentials(): string {
  const sources = Object.values(SECRET_SOURCES);
  const rows = sources.map(({ name, summary, packages }) => [code(name), cell(summary), packages.map(code).join(" ") || "–"]);
  const settings = sources.flatMap(({ name, settings: own }) => Object.entries(own).map(([key, { meaning, missing }]) => [code(name), code(key), missing === undefined ? "" : `yes (${missing})`, cell(meaning)]));
  const variables = sources.flatMap(({ name, variables: own }) => Object.entries(own).map(([variable, meaning]) => [code(name), code(variable), cell(meaning)]));
  return [
    "\n## Credentials: `connections.X.credentials.provider`\n\n[How they are fetched and what they may set](../secrets.md).\n\n",
    table(["provider", "what it is", "needs the package"], rows),
    "\nKeys of its block:\n\n", table(["provider", "key", "required", "meaning"], settings),
    "\nVariables, of the env file or else of the process:\n\n", table(["provider", "variable", "meaning"], variables),
  ].join("");
}

type Described = ProviderDescriptor<string>;

function section(title: string, descriptors: readonly Described[]): string {
  const rows = descriptors.map((one) => {
    const { name, aliases, summary, defaultModel } = one;
    return [code(name), aliases.map(code).join(" ") || "–", cell(summary), defaultModel === null ? "–" : code(defaultModel), requiredText(one), needsText(one)];
  });
  const settings = descriptors.flatMap(({ name, settings: own }) => Object.entries(own).map(([key, { default: value, use, meaning }]) => [
    code(name), code(key), value === null ? "" : code(JSON.stringify(value)), use === "secret" || use === "secrets" ? "yes" : "", cell(meaning ?? ""),
  ]));
  return `\n## ${title}\n\n${table(["provider", "older names", "what it is", "default model", "needs", "needs the package"], rows)}\nKeys of its \`config\`:\n\n${table(["provider", "key", "default", "secret", "meaning"], settings)}`;
}

/** Settings that the default model needs. */
function requiredText({ defaultModel, needs }: Described): string {
  return needs(defaultModel ?? "").map((keys) => keys.map(code).join(" or ")).join(", ") || "–";
}

function needsText({ defaultModel, packages }: Described): string {
  return packages(defaultModel ?? "").map(code).join(" ") || "–";
}
