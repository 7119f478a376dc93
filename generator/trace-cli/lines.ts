/** Lines of a file that may be anything: split at line feeds alone, because JSON has other line ends inside its texts. */
import { StringDecoder } from "node:string_decoder";

/** Characters of a line; a step with the largest payload that the service takes is a fraction of it. */
export const MAX_LINE = 256 * 1024 * 1024;

/** Each line without its end; `null` stands for one that is longer than `most`, of which nothing is kept. */
export async function* linesOf(chunks: AsyncIterable<string | Uint8Array>, most = MAX_LINE): AsyncGenerator<string | null> {
  const decoder = new StringDecoder("utf8");
  let parts: string[] = [];
  let length = 0;
  const add = (text: string): void => {
    length += text.length;
    if (length > most) parts = [];
    else if (text !== "") parts.push(text);
  };
  const take = (): string | null => {
    const line = length > most ? null : parts.join("");
    parts = [];
    length = 0;
    return line;
  };
  for await (const chunk of chunks) {
    const text = typeof chunk === "string" ? chunk : decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength));
    let from = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
      add(text.slice(from, end));
      yield take();
      from = end + 1;
    }
    add(text.slice(from));
  }
  add(decoder.end());
  if (length > 0) yield take();
}
