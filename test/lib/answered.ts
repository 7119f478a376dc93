/** A `Reply` whose result is a promise. */
import type { Answer, Reply } from "../../runtime/mcp/answer.js";

/** Resolves with the answer; fails when there is a second one. */
export function answered(ask: (reply: Reply) => void): Promise<Answer | null> {
  return new Promise((resolve, reject) => {
    let told = 0;
    ask({
      answer(answer) {
        told += 1;
        if (told > 1) reject(new Error("answered twice"));
        resolve(answer);
      },
    });
  });
}
