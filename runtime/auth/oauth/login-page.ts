/** The pages of the authorization endpoint: the login, and what is shown instead of it. HTML without scripts. */
import { createHash } from "node:crypto";
import type { HeaderList } from "../../transport/types.js";

const STYLE = `
:root{color-scheme:light dark;--ink:#1b1f24;--soft:#57606a;--paper:#fff;--ground:#f3f4f6;--line:#8c959f;--accent:#0b57d0;--bad:#b3261e}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ed;--soft:#a9b1ba;--paper:#1c2128;--ground:#12161b;--line:#7d8790;--accent:#8ab4f8;--bad:#ff8a80}}
*{box-sizing:border-box}
body{margin:0;min-height:100vh;display:grid;place-items:center;padding:1rem;background:var(--ground);color:var(--ink);font:1rem/1.5 system-ui,sans-serif}
main{width:100%;max-width:26rem;padding:1.75rem;background:var(--paper);border:1px solid var(--line);border-radius:.75rem}
h1{margin:0 0 .75rem;font-size:1.35rem;overflow-wrap:anywhere}
p{margin:.5rem 0;overflow-wrap:anywhere}
dl{margin:1rem 0;padding:.75rem 1rem;background:var(--ground);border-radius:.5rem}
dt{color:var(--soft);font-size:.875rem}
dd{margin:0 0 .5rem;font-weight:600;overflow-wrap:anywhere}
dd:last-child{margin-bottom:0}
label{display:block;margin:1rem 0 .25rem;font-weight:600}
input{width:100%;padding:.6rem .75rem;font:inherit;color:inherit;background:var(--paper);border:1px solid var(--line);border-radius:.5rem}
button{padding:.6rem 1.25rem;font:inherit;font-weight:600;border-radius:.5rem;border:1px solid var(--accent);cursor:pointer}
button[value=allow]{background:var(--accent);color:var(--paper)}
button[value=cancel]{background:transparent;color:var(--accent)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}
.actions{display:flex;flex-wrap:wrap;gap:.75rem;margin-top:1.25rem}
.hint{color:var(--soft);font-size:.875rem}
.problem{color:var(--bad);font-weight:600}
`;
const STYLE_SOURCE = `'sha256-${createHash("sha256").update(STYLE, "utf8").digest("base64")}'`;
const MAX_NAME_CHARACTERS = 80;

export interface LoginView {
  readonly title: string;
  readonly clientName: string;
  /** The site that stands behind the client; `null` where nothing proves one. */
  readonly site: string | null;
  /** Where the browser is sent after the login. */
  readonly target: string;
  readonly csrf: string;
  /** Shown above the form, and read out; `null` at first. */
  readonly problem: string | null;
}

export function loginPage({ title, clientName, site, target, csrf, problem }: LoginView): string {
  const name = plainName(clientName) || "An application without a name";
  return page(`Log in to ${plainName(title)}`, `
<h1>Log in to ${escape(plainName(title))}</h1>
<p><strong>${escape(name)}</strong> asks to use the tools of this server for you.</p>
<dl>
<dt>After the login your browser goes to</dt><dd>${escape(target)}</dd>
<dt>The application ${site === null ? "calls itself" : "is published by"}</dt><dd>${escape(site ?? name)}</dd>
</dl>
<form method="post">
<input type="hidden" name="csrf" value="${escape(csrf)}">
<input name="username" type="text" autocomplete="username" value="${escape(plainName(title))}" hidden readonly tabindex="-1" aria-label="Server">
<label for="secret">Access secret</label>
${problem === null ? "" : `<p class="problem" id="problem" role="alert">${escape(problem)}</p>`}
<input id="secret" name="secret" type="password" autocomplete="current-password" autocapitalize="none" spellcheck="false" maxlength="200" autofocus aria-describedby="${problem === null ? "hint" : "problem hint"}"${problem === null ? "" : ' aria-invalid="true"'}>
<p class="hint" id="hint">The operator of this server has it. Go on only if you started this login yourself and know where your browser goes.</p>
<div class="actions"><button type="submit" name="action" value="allow">Log in</button><button type="submit" name="action" value="cancel">Cancel</button></div>
</form>`);
}

export interface ProblemView {
  readonly title: string;
  readonly problem: string;
  readonly advice: string;
  /** Address of a link back to the client, with the error. */
  readonly back: { readonly address: string; readonly target: string } | null;
}

export function problemPage({ title, problem, advice, back }: ProblemView): string {
  const link = back === null ? "" : `<p><a href="${escape(back.address)}" rel="noreferrer">Go back to ${escape(back.target)}</a></p>`;
  return page(`${plainName(title)}: the login cannot go on`, `
<h1>The login cannot go on</h1>
<p role="alert">${escape(problem)}</p>
<p>${escape(advice)}</p>${link}`);
}

/** @param formAction where the answer of a form may lead; none without a form. */
export function pageHeaders(formAction: string | null): HeaderList {
  return [
    ["content-type", "text/html; charset=utf-8"],
    ["content-security-policy", `default-src 'none'; style-src ${STYLE_SOURCE}; base-uri 'none'; frame-ancestors 'none'; form-action ${formAction === null ? "'none'" : `'self' ${formAction}`}`],
    ["x-frame-options", "DENY"],
    ["x-content-type-options", "nosniff"],
    // With no-referrer a browser would send the form with the Origin "null".
    ["referrer-policy", "same-origin"],
    ["cross-origin-opener-policy", "same-origin"],
    ["cache-control", "no-store"],
  ];
}

function page(title: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${escape(title)}</title><style>${STYLE}</style></head>
<body><main>${body}
</main></body>
</html>
`;
}

/** Without control characters and marks that change the direction of text: a name could otherwise pose as another part of the page. */
export function plainName(name: string): string {
  const text = name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "").replace(/\s+/g, " ").trim();
  const characters = [...text];
  return characters.length > MAX_NAME_CHARACTERS ? `${characters.slice(0, MAX_NAME_CHARACTERS - 1).join("")}…` : text;
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
