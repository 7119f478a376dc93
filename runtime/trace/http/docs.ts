/**
 * The page of /docs: made from the OpenAPI document at the start, readable without a script; `docs.js` lets each
 * operation be tried. Nothing is loaded from elsewhere.
 */
import { choicesOf, escape, paragraphs, refName, ruleText, type Schema, schemaHtml, typeHtml } from "./docs-schema.js";

interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Media {
  readonly schema?: Schema;
  readonly example?: unknown;
}

type Content = { readonly [type: string]: Media };

interface Response {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: Content;
}

interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: { readonly [status: string]: Response };
}

type PathItem = { readonly parameters?: readonly Parameter[]; readonly get?: Operation; readonly post?: Operation; readonly delete?: Operation };

interface Document {
  readonly info: { readonly title: string; readonly version: string; readonly summary?: string; readonly description?: string };
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: { readonly [path: string]: PathItem };
  readonly components: {
    readonly parameters: { readonly [name: string]: Parameter };
    readonly responses: { readonly [name: string]: Response };
    readonly schemas: { readonly [name: string]: Schema };
  };
  readonly "x-websockets"?: { readonly [path: string]: { readonly summary?: string; readonly description?: string; readonly sends?: readonly string[] } };
}

/** An operation with everything that its path says of it. */
interface Entry {
  readonly path: string;
  readonly method: string;
  readonly operation: Operation;
  readonly parameters: readonly Parameter[];
}

/** The page for a document given as JSON text. */
export function docsPage(documentText: string): string {
  const document = JSON.parse(documentText) as Document;
  const groups = document.tags.map((tag) => ({ title: tag.description ?? tag.name, entries: entriesOf(document).filter(({ operation }) => operation.tags[0] === tag.name) }));
  const sockets = Object.entries(document["x-websockets"] ?? {}).filter(([path]) => path.startsWith("/"));
  const sections = [
    ...groups.map(({ title, entries }) => `<section><h2>${escape(title)}</h2>${entries.map((entry) => operationHtml(document, entry)).join("")}</section>`),
    `<section><h2>WebSockets</h2>${sockets.map(([path, socket]) => `<article id="${socketId(path)}"><h3><b>WS</b> <code>${escape(path)}</code> ${escape(socket.summary ?? "")}</h3>${paragraphs(socket.description)}<p>Frames: <a href="#schema-WSMessage">WSMessage</a>${(socket.sends ?? []).map((type) => ` <code>${escape(type)}</code>`).join("")}</p></article>`).join("")}</section>`,
    `<section><h2>Schemas</h2>${Object.entries(document.components.schemas).map(([name, schema]) => schemaHtml(name, schema)).join("")}</section>`,
  ];
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width,initial-scale=1">
<title>${escape(document.info.title)}</title><link rel="icon" href="ui/favicon.svg"><link rel="stylesheet" href="docs.css"><script src="docs.js" defer></script></head>
<body>${navigation(document, groups, sockets.map(([path]) => path))}
<div class="page"><header><h1>${escape(document.info.title)} <small>${escape(document.info.version)}</small></h1>${paragraphs(document.info.summary)}${paragraphs(document.info.description)}
<p><a href="openapi.json">openapi.json</a></p><form><label>Token for what is tried here <input id="token" type="password" autocomplete="off"></label></form></header>
<main>${sections.join("")}</main></div></body></html>
`;
}

function entriesOf(document: Document): readonly Entry[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    (["get", "post", "delete"] as const).flatMap((method) => {
      const operation = item[method];
      return operation === undefined ? [] : [{ path, method, operation, parameters: [...(item.parameters ?? []), ...(operation.parameters ?? [])].map((parameter) => resolve(document, parameter)) }];
    }),
  );
}

function socketId(path: string): string {
  return `socket${path.replace(/\W+/g, "-").replace(/-$/, "")}`;
}

function navigation(document: Document, groups: readonly { readonly title: string; readonly entries: readonly Entry[] }[], sockets: readonly string[]): string {
  const list = (title: string, items: readonly (readonly [id: string, html: string])[]): string =>
    items.length === 0 ? "" : `<h2>${escape(title)}</h2><ul>${items.map(([id, html]) => `<li><a href="#${escape(id)}">${html}</a></li>`).join("")}</ul>`;
  return `<nav aria-label="Contents" tabindex="0">${groups.map(({ title, entries }) => list(title, entries.map(({ method, path, operation }) => [operation.operationId, `<b>${method.toUpperCase()}</b> ${escape(path)}`]))).join("")}` +
    `${list("WebSockets", sockets.map((path) => [socketId(path), `<b>WS</b> ${escape(path)}`]))}${list("Schemas", Object.keys(document.components.schemas).map((name) => [`schema-${name}`, escape(name)]))}</nav>`;
}

function operationHtml(document: Document, { path, method, operation, parameters }: Entry): string {
  const responses = Object.entries(operation.responses).map(([status, response]) => {
    const { description = "", content = {} } = response.$ref === undefined ? response : (document.components.responses[refName(response.$ref)] ?? {});
    const bodies = Object.entries(content).map(([type, { schema }]) => `<code>${escape(type)}</code>${schema === undefined ? "" : ` ${typeHtml(schema)}`}`);
    return `<tr><th scope="row">${status}</th><td>${escape(description)}</td><td>${bodies.join("<br>")}</td></tr>`;
  });
  return (
    `<article id="${escape(operation.operationId)}"><h3><b>${method.toUpperCase()}</b> <code>${escape(path)}</code> ${escape(operation.summary)}</h3>${paragraphs(operation.description)}` +
    `<form data-method="${method.toUpperCase()}" data-path="${escape(path)}">${parameters.map(fieldHtml).join("")}${bodyHtml(operation)}<button>Send</button><pre hidden tabindex="0" aria-label="Answer" role="status"></pre></form>` +
    `<table><thead><tr><th scope="col">Status</th><th scope="col">When</th><th scope="col">Body</th></tr></thead><tbody>${responses.join("")}</tbody></table></article>`
  );
}

/** A field for a parameter: a choice where only some words are allowed. */
function fieldHtml({ name, in: place, required = false, description = "", schema }: Parameter): string {
  const rule = ruleText(schema);
  const choices = choicesOf(schema);
  const given = `name="${escape(name)}" data-in="${escape(place)}"${required ? " required" : ""}`;
  const field = choices === null ? `<input ${given} autocomplete="off" spellcheck="false">` : `<select ${given}>${required ? "" : '<option value=""></option>'}${choices.map((choice) => `<option>${escape(choice)}</option>`).join("")}</select>`;
  return `<label><span><code>${escape(name)}</code>${required ? " required" : ""} ${escape(description)} ${rule === "" ? "" : `<i>${escape(rule)}</i>`}</span>${field}</label>`;
}

/** The body of a request that can be typed, with its example. */
function bodyHtml({ requestBody }: Operation): string {
  if (requestBody === undefined) return "";
  const types = Object.entries(requestBody.content).filter(([type]) => type !== "application/x-protobuf");
  const [first] = types;
  if (first === undefined) return "";
  const { schema, example } = first[1];
  const text = example === undefined ? "" : JSON.stringify(example, null, 2);
  return (
    `<label><span>Content type</span><select name="content-type">${types.map(([type]) => `<option>${escape(type)}</option>`).join("")}</select></label>` +
    `<label><span>Body${schema === undefined ? "" : `: ${typeHtml(schema)}`}</span><textarea name="body" rows="${Math.min(16, text.split("\n").length + 1)}" spellcheck="false">${escape(text)}</textarea></label>`
  );
}

function resolve(document: Document, parameter: Parameter): Parameter {
  return parameter.$ref === undefined ? parameter : (document.components.parameters[refName(parameter.$ref)] ?? parameter);
}
