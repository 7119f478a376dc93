/** An object without its `undefined` members, so that optional keys of a plan are left out rather than empty. */
export function compact<T extends object>(members: { readonly [K in keyof T]: T[K] | undefined }): T {
  const present: { [key: string]: unknown } = {};
  // A loop: a large catalog has tens of thousands of plans, and lists of pairs are garbage for each of them.
  for (const [key, value] of Object.entries(members)) if (value !== undefined) present[key] = value;
  return present as T;
}

/** The value as an optional member: nothing when there is nothing in it. */
export function unlessEmpty<T extends readonly unknown[] | object>(value: T): T | undefined {
  return (Array.isArray(value) ? value.length : Object.keys(value).length) > 0 ? value : undefined;
}
