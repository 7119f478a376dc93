/** Which rows of a long list are in view. */

export interface Window {
  /** Index of the first row to draw, and of the one after the last. */
  readonly from: number;
  readonly to: number;
}

/** Rows in view and `margin` more on either side. */
export function windowOf(scrollTop: number, height: number, rowHeight: number, count: number, margin: number): Window {
  const from = Math.max(0, Math.floor(scrollTop / rowHeight) - margin);
  const to = Math.min(count, Math.ceil((scrollTop + height) / rowHeight) + margin);
  return { from: Math.min(from, Math.max(0, count)), to: Math.max(to, Math.min(from, count)) };
}

/** Where to scroll so that a row is in view; the present place when it is. `top` rows of height are covered by a header. */
export function scrollFor(index: number, scrollTop: number, height: number, rowHeight: number, covered: number): number {
  const top = index * rowHeight;
  if (top < scrollTop) return top;
  const room = height - covered;
  if (top + rowHeight > scrollTop + room) return top + rowHeight - room;
  return scrollTop;
}
