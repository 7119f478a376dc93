import { createContext } from "preact";
import { useContext } from "preact/hooks";
import type { App } from "../state/app.js";

export const AppContext = createContext<App | null>(null);

/** What the page shares; every view is below its provider. */
export function useApp(): App {
  const app = useContext(AppContext);
  if (app === null) throw new Error("a view outside the page");
  return app;
}
