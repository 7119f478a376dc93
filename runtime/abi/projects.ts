/** Several catalogs in one server: each is a project, named by its file. */
import type { Program } from "./call.js";

export interface Project {
  readonly name: string;
  readonly program: Program;
}

/** A catalog's name among others: its file's, without folders and without the ending. */
export function projectName(file: string): string {
  const base = file.split(/[\\/]/).at(-1) ?? file;
  return base.replace(/(?<=.)\.[^.]*$/, "");
}

/** What keeps files from being served together, in one line; `null` when nothing does. Names differ in more than case. */
export function clashOf(paths: readonly string[]): string | null {
  const seen = new Map<string, string>();
  for (const path of paths) {
    const name = projectName(path);
    const other = seen.get(name.toLowerCase());
    if (other === path) return `${path} is given twice`;
    if (other !== undefined) return `${other} and ${path} would both be the project '${name}'; projects are named by their files, so rename one`;
    seen.set(name.toLowerCase(), path);
  }
  return null;
}
