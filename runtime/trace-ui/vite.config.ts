/** How the pages of the trace service are built: once, ahead of time, into files with relative addresses. */
import { fileURLToPath } from "node:url";
import { defineConfig, type Plugin } from "vite";

const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/** What the first picture needs is compiled while it is read, beside the page's own thread, and not call by call on it. */
const compileAtOnce: Plugin = {
  name: "compile-at-once",
  enforce: "post",
  generateBundle(_options, bundle) {
    for (const chunk of Object.values(bundle)) if (chunk.type === "chunk" && (chunk.isEntry || chunk.name === "jsxRuntime")) chunk.code = `//# allFunctionsCalledOnLoad\n${chunk.code}`;
  },
};

export default defineConfig({
  root: here("."),
  base: "./",
  publicDir: here("public"),
  cacheDir: here("../../.cache/vite"),
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  plugins: [compileAtOnce],
  build: {
    outDir: here("../../dist/runtime/trace-ui/static"),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    sourcemap: false,
    target: ["chrome123", "firefox120", "safari17.5"],
  },
});
