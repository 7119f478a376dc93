/**
 * The page of /docs: made from the OpenAPI document at the start, readable without a script; `docs.js` lets each
 * operation be tried. Nothing is loaded from elsewhere.
 */

interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly default?: unknown;
}

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly security?: readonly unknown[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: { readonly [type: string]: unknown } };
  readonly responses: { readonly [status: string]: { readonly $ref?: string; readonly description?: string } };
}

type PathItem = { readonly parameters?: readonly Parameter[]; readonly get?: Operation; readonly post?: Operation; readonly delete?: Operation };

interface Document {
  readonly info: { readonly title: string; readonly version: string; readonly summary?: string; readonly description?: string };
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: { readonly [path: string]: PathItem };
  readonly components: { readonly parameters: { readonly [name: string]: Parameter }; readonly responses: { readonly [name: string]: { readonly description: string } } };
  readonly "x-websockets"?: { readonly [path: string]: { readonly summary?: string; readonly description?: string } };
}

/** The page for a document given as JSON text. */
export function docsPage(documentText: string): string {
  const document = JSON.parse(documentText) as Document;
  const operations = Object.entries(document.paths).flatMap(([path, item]) =>
    (["get", "post", "delete"] as const).flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [{ path, method, operation, parameters: [...(item.parameters ?? []), ...(operation.parameters ?? [])].map((p) => resolve(document, p)) }];
    }),
  );
  const groups = document.tags.map((tag) => {
    const inside = operations.filter(({ operation }) => operation.tags[0] === tag.name);
    return `<section><h2>${escape(tag.description ?? tag.name)}</h2>${inside.map((entry) => operationHtml(document, entry)).join("")}</section>`;
  });
  const sockets = Object.entries(document["x-websockets"] ?? {})
    .filter(([path]) => path.startsWith("/"))
    .map(([path, socket]) => `<article><h3><b>WS</b> <code>${escape(path)}</code> ${escape(socket.summary ?? "")}</h3>${paragraphs(socket.description)}</article>`);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escape(document.info.title)}</title><link rel="stylesheet" href="docs.css"><script src="docs.js" defer></script></head>
<body><header><h1>${escape(document.info.title)} <small>${escape(document.info.version)}</small></h1>${paragraphs(document.info.summary)}${paragraphs(document.info.description)}
<p><a href="openapi.json">openapi.json</a></p><label>Token <input id="token" type="password" autocomplete="off"></label></header>
<main>${groups.join("")}<section><h2>WebSockets</h2>${sockets.join("")}</section></main></body></html>
`;
}

function operationHtml(document: Document, entry: { path: string; method: string; operation: Operation; parameters: readonly Parameter[] }): string {
  const { path, method, operation, parameters } = entry;
  const fields = parameters.map((parameter) => {
    const rule = ruleText(parameter.schema);
    return `<label><span><code>${escape(parameter.name)}</code>${parameter.required === true ? " required" : ""} ${escape(parameter.description ?? "")} ${rule === "" ? "" : `<i>${escape(rule)}</i>`}</span><input name="${escape(parameter.name)}" data-in="${escape(parameter.in)}"></label>`;
  });
  const body = operation.requestBody === undefined ? "" : `<label><span>Body (${escape(Object.keys(operation.requestBody.content).join(", "))})</span><textarea name="body" rows="4"></textarea></label>`;
  const responses = Object.entries(operation.responses).map(([status, response]) => {
    const name = response.$ref?.split("/").at(-1) ?? "";
    return `<tr><td>${status}</td><td>${escape(response.description ?? document.components.responses[name]?.description ?? "")}</td></tr>`;
  });
  return (
    `<article id="${escape(operation.operationId)}"><h3><b>${method.toUpperCase()}</b> <code>${escape(path)}</code> ${escape(operation.summary)}</h3>${paragraphs(operation.description)}` +
    `<form data-method="${method.toUpperCase()}" data-path="${escape(path)}">${fields.join("")}${body}<button>Send</button></form><pre hidden></pre>` +
    `<table>${responses.join("")}</table></article>`
  );
}

function ruleText(schema: Schema): string {
  const parts = [
    schema.minimum !== undefined || schema.maximum !== undefined ? `${schema.minimum ?? ""}…${schema.maximum ?? ""}` : "",
    schema.minLength !== undefined || schema.maxLength !== undefined ? `${schema.minLength ?? 0} to ${schema.maxLength ?? "any number of"} characters` : "",
    schema.pattern ?? "",
    schema.default === undefined ? "" : `default ${String(schema.default)}`,
  ];
  return parts.filter((part) => part !== "").join(", ");
}

function resolve(document: Document, parameter: Parameter): Parameter {
  const name = parameter.$ref?.split("/").at(-1);
  return name === undefined ? parameter : (document.components.parameters[name] ?? parameter);
}

function paragraphs(text: string | undefined): string {
  return text === undefined ? "" : `<p>${escape(text.trim()).replace(/`([^`]+)`/g, "<code>$1</code>")}</p>`;
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}

export const DOCS_CSS = `:root{color-scheme:light dark;--line:color-mix(in srgb,currentColor 18%,transparent);--accent:#2f6fde}
body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:0 auto;padding:1.5rem}
h1 small{font-weight:400;opacity:.6}h2{margin-top:2.5rem;border-bottom:1px solid var(--line)}h3{font-size:1rem;font-weight:500}
h3 b{display:inline-block;min-width:4.2rem;color:var(--accent)}article{padding:.4rem 0 .8rem;border-bottom:1px solid var(--line)}
code,pre,textarea,input{font:13px/1.45 ui-monospace,monospace}label{display:grid;gap:.2rem;margin:.5rem 0}label i{opacity:.65}
input,textarea,button{padding:.35rem .5rem;border:1px solid var(--line);border-radius:.3rem;background:transparent;color:inherit}
button{cursor:pointer;border-color:var(--accent)}pre{max-height:24rem;overflow:auto;border:1px solid var(--line);border-radius:.3rem;padding:.6rem;white-space:pre-wrap;overflow-wrap:anywhere}
table{border-collapse:collapse;font-size:.85rem}td{padding:.15rem .8rem .15rem 0;vertical-align:top}
`;

export const DOCS_JS = `"use strict";
for (const form of document.forms) form.addEventListener("submit", async (event) => {
  event.preventDefault();
  let path = form.dataset.path;
  const query = new URLSearchParams();
  for (const input of form.querySelectorAll("input")) {
    if (input.dataset.in === "path") path = path.replace("{" + input.name + "}", encodeURIComponent(input.value));
    else if (input.value !== "") query.set(input.name, input.value);
  }
  const headers = {};
  const token = document.getElementById("token").value;
  if (token !== "") headers.authorization = "Bearer " + token;
  const body = form.querySelector("textarea");
  if (body !== null) headers["content-type"] = "application/json";
  const output = form.nextElementSibling;
  output.hidden = false;
  try {
    const answer = await fetch("." + path + (query.size > 0 ? "?" + query : ""), { method: form.dataset.method, headers, body: body === null ? undefined : body.value });
    const text = await answer.text();
    let shown = text;
    try { shown = JSON.stringify(JSON.parse(text), null, 2); } catch {}
    output.textContent = answer.status + " " + answer.statusText + "\\n\\n" + shown.slice(0, 200000);
  } catch (error) {
    output.textContent = String(error);
  }
});
`;
