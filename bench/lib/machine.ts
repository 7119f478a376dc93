/** What a figure was measured on. */
import { cpus, release, totalmem } from "node:os";

/** One line: processor, cores, memory, system, Node. */
export function machineLine(): string {
  const all = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${all[0]?.model.trim() ?? "unknown processor"}, ${all.length} cores, ${memory} GB, ${process.platform} ${release()}, Node ${process.versions.node}`;
}
