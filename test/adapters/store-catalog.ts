/** Catalogs over a live store: a connection whose settings come from the environment, so that no catalog holds a secret. */
import { DESCRIPTORS } from "../../runtime/adapters/descriptors.js";
import type { LiveStore } from "./live-store.js";

export interface StoreConnection {
  /** The connection as a catalog writes it. */
  readonly connection: { readonly [key: string]: unknown };
  /** Values of its references. */
  readonly env: { readonly [name: string]: string };
}

export function connectionTo({ backend, settings }: Pick<LiveStore, "backend" | "settings">): StoreConnection {
  const env: Record<string, string> = {};
  const written = Object.fromEntries(Object.entries(settings).map(([key, value]) => {
    if (typeof value !== "string" || DESCRIPTORS[backend].settings[key]?.use === "option") return [key, value];
    env[`STORE_${key.toUpperCase()}`] = value;
    return [key, `\${STORE_${key.toUpperCase()}}`];
  }));
  return { connection: { backend, ...written }, env };
}
