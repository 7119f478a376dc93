/** Settings of connections as adapters read them: their references are filled in. */

/** The text of a setting; null where it is absent or empty. */
export function textSetting(settings: { readonly [key: string]: unknown }, key: string): string | null {
  const value = settings[key];
  return typeof value === "string" && value !== "" ? value : null;
}
