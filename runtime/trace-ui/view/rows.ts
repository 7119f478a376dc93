/** Which rows of a scrolled list to draw, kept up to date while it scrolls and changes its size. */
import { type RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { scrollFor, type Window, windowOf } from "../model/window.js";

/** Rows beyond those in view: few until the reader scrolls, because the first picture must not wait for what nobody sees. */
const MARGIN = { still: 4, scrolled: 12 } as const;

/** Until the element has been measured. */
const BEFORE_LAYOUT: { readonly scrollTop: number; readonly height: number; readonly margin: number } = { scrollTop: 0, height: 600, margin: MARGIN.still };

export interface Rows {
  readonly ref: RefObject<HTMLDivElement | null>;
  readonly window: Window;
  readonly scrollTop: number;
  readonly height: number;
  /** Brings a row into view. */
  reveal(index: number): void;
}

/** `covered` is the height of what stays at the top of the scrolled element. */
export function useRows(count: number, rowHeight: number, covered = 0): Rows {
  const ref = useRef<HTMLDivElement>(null);
  const [view, setView] = useState(BEFORE_LAYOUT);
  useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const read = (): void => setView((before) => {
      const { scrollTop, clientHeight: height } = element;
      return before.scrollTop === scrollTop && before.height === height ? before : { scrollTop, height, margin: scrollTop === before.scrollTop ? before.margin : MARGIN.scrolled };
    });
    const observer = new ResizeObserver(read);
    // It reports the size at once, in the frame: reading it here would lay the page out twice.
    observer.observe(element);
    element.addEventListener("scroll", read, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", read);
    };
  }, []);
  return {
    ref,
    window: windowOf(view.scrollTop, view.height, rowHeight, count, view.margin),
    scrollTop: view.scrollTop,
    height: view.height,
    reveal(index) {
      const element = ref.current;
      if (element === null || index < 0) return;
      const top = scrollFor(index, element.scrollTop, element.clientHeight, rowHeight, covered);
      if (top !== element.scrollTop) element.scrollTop = top;
    },
  };
}
