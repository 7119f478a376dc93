/** The descriptor of the expansion provider `none`: the query as it is. Pure. */
import type { ExpandDescriptor } from "../descriptor.js";

export const descriptor: ExpandDescriptor = {
  name: "none",
  aliases: [],
  summary: "no expansion: the query as it is",
  settings: {},
  needs: () => [],
  defaultModel: null,
  packages: () => [],
  expands: false,
};
