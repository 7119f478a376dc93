/** Names of the server files, the same from source and from dist/. */
import { extname } from "node:path";
import { fileURLToPath } from "node:url";

/** `peers/<name>` with the extension that this run uses. */
export function serverFile(name: string): string {
  return `peers/${name}${extname(fileURLToPath(import.meta.url))}`;
}
