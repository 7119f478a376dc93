/** An object without its `undefined` members, so that optional keys of a plan are left out rather than empty. */
export function compact<T extends object>(members: { readonly [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}

/** The value as an optional member: nothing when there is nothing in it. */
export function unlessEmpty<T extends readonly unknown[] | object>(value: T): T | undefined {
  return (Array.isArray(value) ? value.length : Object.keys(value).length) > 0 ? value : undefined;
}
