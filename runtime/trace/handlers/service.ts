/** The instance itself: its health, its description. */
import type { Handlers } from "../http/answer.js";
import { PAGE_POLICY } from "../http/static.js";
import type { HandlerContext } from "./context.js";

type ServiceHandlers = Pick<Handlers, "getHealth" | "getOpenApi" | "getDocs">;

export function serviceHandlers({ settings, version, document, docs }: HandlerContext): ServiceHandlers {
  return {
    getHealth: () => ({ status: 200, body: { status: "ok", version, project_name: settings.project_name } }),
    getOpenApi: () => ({ status: 200, type: "application/json", bytes: document }),
    getDocs: () => ({ status: 200, type: "text/html", bytes: docs, headers: [["content-security-policy", PAGE_POLICY], ["cache-control", "no-cache"]] }),
  };
}
