/** Text around a match, as the service marks it: matches between U+0002 and U+0003. */

export interface SnippetPart {
  readonly text: string;
  readonly match: boolean;
}

export function snippetParts(snippet: string): readonly SnippetPart[] {
  return snippet
    .split(/(\u0002[^\u0003]*\u0003?)/)
    .filter((part) => part !== "")
    .map((part) => ({ text: part.replace(/[\u0002\u0003]/g, ""), match: part.startsWith("\u0002") }));
}
