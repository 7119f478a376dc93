/** Which rows of a scrolled list to draw, kept up to date while it scrolls and changes its size. */
import { type RefObject } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { scrollFor, type Window, windowOf } from "../model/window.js";

const MARGIN = 12;

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
  const [view, setView] = useState({ scrollTop: 0, height: 800 });
  useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const read = (): void => setView((before) => (before.scrollTop === element.scrollTop && before.height === element.clientHeight ? before : { scrollTop: element.scrollTop, height: element.clientHeight }));
    const observer = new ResizeObserver(read);
    observer.observe(element);
    element.addEventListener("scroll", read, { passive: true });
    read();
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", read);
    };
  }, []);
  return {
    ref,
    window: windowOf(view.scrollTop, view.height, rowHeight, count, MARGIN),
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
