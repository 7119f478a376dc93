/** The descriptor of the expansion provider `http`: any service that answers phrases. Pure. */
import type { ExpandDescriptor } from "../descriptor.js";

export const TIMEOUT_S = 30;

export const descriptor: ExpandDescriptor = {
  name: "http",
  aliases: [],
  summary: "any service that takes a query and answers phrases as JSON",
  settings: {
    base_url: { default: null, use: "endpoint", meaning: "address that the query is posted to; required" },
    url: { default: null, use: "endpoint", meaning: "another name of base_url" },
    headers: { default: null, use: "secrets", meaning: "headers of each request" },
    api_key: { default: null, use: "secret", meaning: "sent as Authorization: Bearer" },
    timeout_s: { default: TIMEOUT_S, use: "option", meaning: "seconds one request may take" },
  },
  needs: () => [["base_url", "url"]],
  defaultModel: null,
  packages: () => [],
  load: () => import("./index.js"),
  expands: true,
};
