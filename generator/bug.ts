/** A broken promise inside the compiler itself: never the user's fault, never caught, ends the program with exit code 70. */
export class CompilerBug extends Error {
  override readonly name = "CompilerBug";
}

/** For the end of a switch over a closed union. @throws CompilerBug always. */
export function unreachable(value: never): never {
  throw new CompilerBug(`unexpected ${JSON.stringify(value)}`);
}
