/** toolsrv with rate limits that no load reaches, as a process: `node toolsrv-limited.js memory` or `… redis URL`. */
import type { RateLimitPlan } from "../../runtime/abi/plan.js";
import { serve } from "../../runtime/serve/main.js";
import { storeFreeProgram } from "../lib/program.js";

const [store = "memory", url] = process.argv.slice(2);
const limits = { requests_per_minute: 1_000_000_000 };
const plan: RateLimitPlan = {
  store: store === "redis" ? "redis" : "memory", ...(url === undefined ? {} : { redis_url: url }), on_store_error: "closed",
  global: limits, per_principal: limits, per_tool: { tool_0: "1000000000/minute" },
};
await serve({ ...storeFreeProgram(6), settings: { security: { rate_limit: plan } } }, ["--http", "127.0.0.1:0", "--auth", "none", "--log-level", "warn"]);
