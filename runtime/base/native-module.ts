/** Errors of a package with a compiled part that this Node cannot load. */

/** What to do about it, or `null` when the error is another one. The error's own text names folders; this one does not. */
export function nativeModuleProblem(error: unknown, name: string): string | null {
  if (!(error instanceof Error)) return null;
  const code = "code" in error ? error.code : undefined;
  const failed = code === "ERR_DLOPEN_FAILED" || error.message.startsWith("Could not locate the bindings file") || error.message.includes("NODE_MODULE_VERSION");
  return failed ? `the compiled part of ${name} does not load on Node ${process.versions.node}; run: npm rebuild ${name}` : null;
}
