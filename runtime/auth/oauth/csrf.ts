/**
 * Binds the login form to the browser that loaded it: the form has a digest of a cookie and of the request, which no
 * other site can read or make. Nothing is kept on the server, so any replica can check it.
 */
import { createHmac, randomBytes } from "node:crypto";
import { sameText } from "./tokens.js";

/** The prefix lets only this host set it, over https. */
const NAME = "__Host-toolsrv-login";
const MAX_AGE_S = 3600;

/** The browser's value, or a new one. One value serves all tabs: cookies do not pile up. */
export function loginCookie(header: string): string {
  return readCookie(header) ?? randomBytes(24).toString("base64url");
}

/**
 * Lax: hosts open the page from their own site, where a Strict cookie is not sent, so that each login would replace the
 * cookie of another tab. A form that another site sends comes without it all the same.
 */
export function cookieHeader(value: string): readonly [string, string] {
  return ["set-cookie", `${NAME}=${value}; Max-Age=${MAX_AGE_S}; Path=/; Secure; HttpOnly; SameSite=Lax`];
}

export function csrfToken(cookie: string, query: string): string {
  return createHmac("sha256", cookie).update(query, "utf8").digest("base64url");
}

export function isCsrfToken(token: string | null, cookies: string, query: string): boolean {
  const cookie = readCookie(cookies);
  return token !== null && cookie !== null && sameText(token, csrfToken(cookie, query));
}

function readCookie(header: string): string | null {
  const values = header.split(";").map((part) => part.trim()).filter((part) => part.startsWith(`${NAME}=`)).map((part) => part.slice(NAME.length + 1));
  const [value] = values;
  return values.length === 1 && value !== undefined && /^[A-Za-z0-9_-]{32}$/.test(value) ? value : null;
}
