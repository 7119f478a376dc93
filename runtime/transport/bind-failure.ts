/** Why an address cannot be bound: the HTTP library reports no reason, so one attempt with a socket of Node finds it. */
import { createServer } from "node:net";

/** A clause for a message: the cause, and what to do about it. */
export function bindFailure(host: string, port: number): Promise<string> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", (error: NodeJS.ErrnoException) => resolve(reasonOf(error.code ?? "")));
    // It is free again.
    probe.listen({ host, port, exclusive: true }, () => probe.close(() => resolve("another process had the port; try again")));
  });
}

function reasonOf(code: string): string {
  switch (code) {
    case "EADDRINUSE":
      return "another process has the port; end it, or take another port";
    case "EADDRNOTAVAIL":
      return "this machine has no such address";
    case "EACCES":
      return "this user may not take the port; take one above 1023";
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return "the name is not known here";
    default:
      return `the system refuses it (${code})`;
  }
}
