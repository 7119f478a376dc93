/**
 * Markdown as elements. micromark makes HTML of it; a document that runs and loads nothing parses that, and only the
 * elements of a list are made anew, without their attributes. Nothing of the text reaches the page as markup.
 */
import { micromark } from "micromark";
import { type ComponentChildren, h, type JSX } from "preact";

/** Longer texts are shown as they are. */
export const MAX_MARKDOWN = 60_000;
const MAX_NODES = 5000;
const MAX_DEPTH = 40;

const ELEMENTS = new Set(["P", "EM", "STRONG", "CODE", "PRE", "UL", "OL", "LI", "BLOCKQUOTE", "H1", "H2", "H3", "H4", "H5", "H6", "HR", "BR"]);

export default function Markdown({ text }: { text: string }): JSX.Element {
  const parsed = new DOMParser().parseFromString(micromark(text), "text/html");
  const budget = { nodes: MAX_NODES };
  return <div class="markdown">{childrenOf(parsed.body, budget, 0)}</div>;
}

function childrenOf(parent: Node, budget: { nodes: number }, depth: number): ComponentChildren[] {
  return [...parent.childNodes].map((node) => render(node, budget, depth));
}

function render(node: Node, budget: { nodes: number }, depth: number): ComponentChildren {
  budget.nodes -= 1;
  if (node.nodeType === Node.TEXT_NODE || budget.nodes < 0 || depth > MAX_DEPTH) return node.textContent;
  if (!(node instanceof Element) && node.nodeType !== Node.ELEMENT_NODE) return null;
  const element = node as Element;
  if (element.tagName === "A") return link(element.getAttribute("href") ?? "", childrenOf(element, budget, depth + 1));
  // Pictures of other hosts would tell them who reads what.
  if (element.tagName === "IMG") return <span class="picture">[image: {element.getAttribute("alt") || element.getAttribute("src") || "without a name"}]</span>;
  const children = childrenOf(element, budget, depth + 1);
  if (!ELEMENTS.has(element.tagName)) return children;
  // Headings of a text must not become headings of the page.
  const heading = /^H([1-6])$/.exec(element.tagName)?.[1];
  if (heading !== undefined) return <p class={`heading heading-${heading}`}>{children}</p>;
  return h(element.tagName.toLowerCase(), null, ...children);
}

function link(href: string, children: ComponentChildren): JSX.Element {
  if (!/^(https?:|mailto:)/i.test(href)) return <span class="picture" title={href}>{children}</span>;
  return <a href={href} target="_blank" rel="noopener noreferrer nofollow" title={href}>{children}</a>;
}
