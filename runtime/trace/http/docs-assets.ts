/** Style and script of /docs. The script only sends what the reader asks for; the page is readable without it. */

export const DOCS_CSS = `:root{color-scheme:light dark;--line:light-dark(#d4d8de,#3a4049);--quiet:light-dark(#59616c,#a5adb8);--accent:light-dark(#1f5bc4,#86b1ff);--ground:light-dark(#f5f6f8,#1c2026)}
*{box-sizing:border-box}html{scroll-padding-top:1rem;background:light-dark(#fff,#14171c);color:light-dark(#16191d,#e6e9ed)}
body{margin:0;font:15px/1.5 system-ui,sans-serif;display:grid;grid-template-columns:17rem minmax(0,1fr)}
nav{position:sticky;top:0;height:100vh;overflow:auto;padding:1.2rem;border-right:1px solid var(--line);background:var(--ground);font-size:.86rem}
nav h2{margin:1.1rem 0 .3rem;border:0;font-size:.8rem;color:var(--quiet)}nav ul{margin:0;padding:0;list-style:none}nav a{display:block;padding:.22rem .3rem;overflow-wrap:anywhere;text-decoration:none}
nav a:hover,nav a:focus-visible{text-decoration:underline}nav b{display:inline-block;min-width:2.6rem;font-size:.72rem;color:var(--quiet)}
.page{max-width:64rem;padding:1.5rem 2rem 6rem}
h1 small{font-weight:400;color:var(--quiet)}h2{margin-top:2.5rem;border-bottom:1px solid var(--line)}h3{font-size:1rem;font-weight:500;overflow-wrap:anywhere}
h3 b{display:inline-block;min-width:4.2rem;color:var(--accent)}article{padding:.4rem 0 .8rem;border-bottom:1px solid var(--line)}a{color:var(--accent)}
code,pre,textarea,input,select{font:13px/1.45 ui-monospace,monospace}label{display:grid;gap:.2rem;margin:.5rem 0}i{color:var(--quiet);overflow-wrap:anywhere}
input,textarea,select,button{min-height:2rem;padding:.35rem .5rem;border:1px solid var(--quiet);border-radius:.3rem;background:transparent;color:inherit}option{background:Canvas;color:CanvasText}
button{cursor:pointer;border-color:var(--accent)}pre{max-height:24rem;overflow:auto;border:1px solid var(--line);border-radius:.3rem;padding:.6rem;white-space:pre-wrap;overflow-wrap:anywhere}
table{border-collapse:collapse;font-size:.85rem;width:100%}td,th{padding:.25rem .8rem .25rem 0;vertical-align:top;text-align:left;font-weight:400;overflow-wrap:anywhere}thead th{color:var(--quiet)}.fields{margin:.4rem 0 1rem;table-layout:fixed}.fields th:first-child{width:26%}.fields th:nth-child(2){width:26%}
.try>summary{cursor:pointer;padding:.3rem 0;color:var(--accent)}:target{outline:2px solid var(--accent);outline-offset:6px;border-radius:.2rem}
@media (max-width:52rem){body{display:block}nav{position:static;height:auto;max-height:40vh;border-right:0;border-bottom:1px solid var(--line)}.page{padding:1rem}}
`;

export const DOCS_JS = `"use strict";
const MAX_SHOWN = 200000;
for (const form of document.querySelectorAll("form[data-path]")) form.addEventListener("submit", async (event) => {
  event.preventDefault();
  let path = form.dataset.path;
  const query = new URLSearchParams();
  for (const field of form.querySelectorAll("[data-in]")) {
    if (field.dataset.in === "path") path = path.replace("{" + field.name + "}", encodeURIComponent(field.value));
    else if (field.value !== "") query.set(field.name, field.value);
  }
  const headers = {};
  const token = document.getElementById("token").value;
  if (token !== "") headers.authorization = "Bearer " + token;
  const body = form.querySelector("textarea");
  if (body !== null) headers["content-type"] = form.querySelector("[name=content-type]").value;
  const output = form.querySelector("pre");
  output.hidden = false;
  output.textContent = "…";
  try {
    const answer = await fetch("." + path + (query.size > 0 ? "?" + query : ""), { method: form.dataset.method, headers, body: body === null ? undefined : body.value });
    const text = await answer.text();
    let shown = text;
    try { shown = JSON.stringify(JSON.parse(text), null, 2); } catch {}
    output.textContent = answer.status + " " + answer.statusText + "\\n\\n" + (shown.length > MAX_SHOWN ? shown.slice(0, MAX_SHOWN) + "\\n… " + (shown.length - MAX_SHOWN) + " more characters" : shown);
  } catch (error) {
    output.textContent = String(error);
  }
});
`;
