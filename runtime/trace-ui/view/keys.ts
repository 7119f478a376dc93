/** The keys of the page. Views that are listened to carry `data-keys`; texts and buttons keep their own keys. */
import type { View } from "../model/route.js";
import type { App } from "../state/app.js";
import { markStep } from "./mark-step.js";

/** Keys as the help shows them. */
export const KEYS: readonly (readonly [string, string])[] = [
  ["/", "Search"],
  ["j  k  ↓  ↑", "Next and previous row"],
  ["Enter", "Open the run, or the step"],
  ["Esc", "Close the step, then the run"],
  ["←  →", "Fold and unfold a step"],
  ["e  E", "Next and previous error"],
  ["J  K", "Next and previous run"],
  ["f", "Follow the newest step"],
  ["+  −  0", "Zoom in, out, whole run"],
  ["1 – 5", "Runs, sessions, topology, tools, stats"],
  ["c", "Compare with the previous run of this name"],
  ["m", "Compare this step with the next one that is marked"],
  ["x", "Select the run of the row"],
  ["t", "Theme: system, light, dark"],
  ["?", "This help"],
];

export type Command = "down" | "up" | "enter" | "left" | "right" | "home" | "end" | "page-down" | "page-up" | "next-error" | "previous-error" | "follow" | "zoom-in" | "zoom-out" | "zoom-all" | "select" | "compare";

const COMMANDS: { readonly [key: string]: Command } = {
  j: "down", ArrowDown: "down", k: "up", ArrowUp: "up", Enter: "enter", ArrowLeft: "left", h: "left", ArrowRight: "right", l: "right",
  Home: "home", End: "end", PageDown: "page-down", PageUp: "page-up", e: "next-error", E: "previous-error", f: "follow",
  "+": "zoom-in", "=": "zoom-in", "-": "zoom-out", "0": "zoom-all", x: "select", c: "compare",
};

/** Name of the event that carries a command to the view that has the keys. */
export const COMMAND = "toolsrv-command";

export function onKey(app: App, event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  const target = event.target instanceof HTMLElement ? event.target : null;
  const typing = target !== null && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
  if (event.key === "Escape") {
    escape(app, typing ? target : null);
    return;
  }
  if (typing || app.tokenWanted.value !== null) return;
  if (target?.tagName === "BUTTON" && (event.key === "Enter" || event.key === " ")) return;
  if (handlePage(app, event)) {
    event.preventDefault();
    return;
  }
  const command = COMMANDS[event.key];
  if (command === undefined || app.help.value || app.route.value.view !== "runs") return;
  // The inspector scrolls with the arrow keys; it is left alone while it has the focus.
  if (target?.closest(".inspector") !== null && target !== null && /^(Arrow|Page|Home|End|Enter)/.test(event.key)) return;
  const inRun = app.route.value.runId !== null && target?.closest("[data-keys=list]") == null;
  const view = document.querySelector(`[data-keys=${inRun ? "run" : "list"}]`);
  if (view === null) return;
  event.preventDefault();
  view.dispatchEvent(new CustomEvent<Command>(COMMAND, { detail: command }));
}

function escape(app: App, typing: HTMLElement | null): void {
  if (typing !== null) typing.blur();
  else if (app.help.value) app.help.value = false;
  else if (app.route.value.view !== "runs") app.show("runs");
  else if (app.route.value.stepId !== null) app.select(null);
  else if (app.route.value.runId !== null) app.closeRun();
}

/** In the order of the header. */
const PLACES: readonly View[] = ["runs", "sessions", "topology", "tools", "stats"];

function handlePage(app: App, event: KeyboardEvent): boolean {
  switch (event.key) {
    case "/":
      document.querySelector<HTMLInputElement>("#search")?.focus();
      return true;
    case "?":
      app.help.value = !app.help.value;
      return true;
    case "t":
      app.setTheme(app.theme.value === "system" ? "light" : app.theme.value === "light" ? "dark" : "system");
      return true;
    case "1":
    case "2":
    case "3":
    case "4":
    case "5":
      app.show(PLACES[Number(event.key) - 1] ?? "runs");
      return true;
    case "m":
      markStep(app);
      return true;
    case "J":
    case "K":
      neighbour(app, event.key === "J" ? 1 : -1);
      return true;
    default:
      return false;
  }
}

function neighbour(app: App, step: 1 | -1): void {
  const { runs } = app.list.list.value;
  const at = runs.findIndex((run) => run.run_id === app.route.value.runId);
  const next = at < 0 ? runs[0] : runs[at + step];
  if (next !== undefined) app.openRun(next.run_id);
}
