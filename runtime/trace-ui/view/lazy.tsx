/** Views that are loaded when they are first opened: the first view must not pay for them. */
import { useSignal } from "@preact/signals";
import type { FunctionComponent, JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { View } from "../model/route.js";
import { Notice } from "./parts.js";

type Loader = () => Promise<{ readonly default: FunctionComponent }>;

const LOADERS: { readonly [view in Exclude<View, "runs">]: Loader } = {
  sessions: () => import("./sessions.js"),
  topology: () => import("./topology.js"),
  tools: () => import("./tools.js"),
  stats: () => import("./stats.js"),
  settings: () => import("./settings.js"),
  compare: () => import("./compare.js"),
};

export function LazyView({ view }: { view: Exclude<View, "runs"> }): JSX.Element {
  const loaded = useSignal<{ readonly View: FunctionComponent } | "failed" | null>(null);
  // While this is drawn, not after it: effects wait for the frame.
  useMemo(() => void LOADERS[view]().then((module) => (loaded.value = { View: module.default }), () => (loaded.value = "failed")), []);
  if (loaded.value === "failed") return <Notice title="This view can't be loaded" tone="error">The service may have been replaced by another version: reload the page.</Notice>;
  return loaded.value === null ? <Notice title="Loading…" /> : <loaded.value.View />;
}
