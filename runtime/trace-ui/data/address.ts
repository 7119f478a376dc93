/** Addresses of the service, relative to the page's own: it works under any prefix that a proxy adds before /ui/. */

/** Address of an endpoint. `page` is the address of the document; parameters that are empty are left out. */
export function apiUrl(page: string, path: string, params: { readonly [name: string]: string | number | null } = {}): string {
  const url = new URL(`../api/${path}`, withoutFragment(page));
  for (const [name, value] of Object.entries(params)) if (value !== null && value !== "") url.searchParams.set(name, String(value));
  return url.href;
}

/** Address of a live feed, and the sub-protocols that carry the token. */
export function socketAddress(page: string, path: string, params: { readonly [name: string]: string | number | null }, token: string | null): { readonly url: string; readonly protocols: readonly string[] } {
  const url = new URL(`../ws/${path}`, withoutFragment(page));
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  for (const [name, value] of Object.entries(params)) if (value !== null) url.searchParams.set(name, String(value));
  if (token === null) return { url: url.href, protocols: [] };
  // A sub-protocol keeps the token out of addresses and logs, but only takes these characters.
  if (/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(token) && token !== PROTOCOL) return { url: url.href, protocols: [PROTOCOL, token] };
  url.searchParams.set("token", token);
  return { url: url.href, protocols: [] };
}

/** The sub-protocol that the service answers with. */
const PROTOCOL = "toolsrv";

/** The value of an Authorization header: a browser sends each character as one byte, and the token is UTF-8. */
export function bearer(token: string): string {
  return `Bearer ${String.fromCharCode(...new TextEncoder().encode(token))}`;
}

function withoutFragment(page: string): string {
  const at = page.indexOf("#");
  return at < 0 ? page : page.slice(0, at);
}
