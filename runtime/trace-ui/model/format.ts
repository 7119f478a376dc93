/** Numbers, times and sizes as short text. */

/** `850 µs` never comes: the service counts in milliseconds. `0 ms`, `340 ms`, `1.24 s`, `12.4 s`, `3 m 05 s`, `2 h 07 m`, `3 d 4 h`. */
export function formatDuration(ms: number): string {
  if (!Number.isFinite(ms) || ms < 0) return "–";
  if (ms < 999.5) return `${Math.round(ms)} ms`;
  if (ms < 9995) return `${(ms / 1000).toFixed(2)} s`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m ${pad(seconds % 60)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 1440) return `${Math.floor(minutes / 60)} h ${pad(minutes % 60)} m`;
  return `${Math.floor(minutes / 1440)} d ${Math.floor((minutes % 1440) / 60)} h`;
}

/** `9`, `1.2 k`, `34 k`, `1.5 M`, `2.1 G`. */
export function formatCount(value: number): string {
  if (value < 1000) return String(value);
  if (value < 9950) return `${(value / 1000).toFixed(1)} k`;
  if (value < 999_500) return `${Math.round(value / 1000)} k`;
  if (value < 9_950_000) return `${(value / 1e6).toFixed(1)} M`;
  if (value < 999_500_000) return `${Math.round(value / 1e6)} M`;
  return `${formatNumber(Number((value / 1e9).toFixed(value < 9.95e9 ? 1 : 0)))} G`;
}

/** `1,234,567`: every digit, for where there is room. */
export function formatNumber(value: number): string {
  return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** `312 B`, `4.1 KB`, `2.3 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 999_500) return `${(bytes / 1000).toFixed(bytes < 99_500 ? 1 : 0)} KB`;
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** `$0.0042`, `$1.30`: four digits after the point below a dollar. */
export function formatCost(dollars: number): string {
  if (dollars === 0) return "$0";
  if (dollars < 0.0001) return "<$0.0001";
  return `$${dollars < 1 ? dollars.toFixed(4) : dollars.toFixed(2)}`;
}

/** How long ago: `now`, `12 s`, `5 m`, `3 h`, `2 d`, then the date. */
export function formatAgo(thenMs: number, nowMs: number): string {
  const seconds = Math.floor((nowMs - thenMs) / 1000);
  if (!Number.isFinite(seconds)) return "–";
  if (seconds < 3) return "now";
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} m`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)} h`;
  if (seconds < 7 * 86_400) return `${Math.floor(seconds / 86_400)} d`;
  const date = new Date(thenMs);
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())}`;
}

/** A date whose local fields are those to show: in the time zone of the computer, or in UTC. */
function shown(ms: number, utc: boolean): Date {
  const date = new Date(ms);
  return utc ? new Date(ms + date.getTimezoneOffset() * 60_000) : date;
}

/** Local time of day with milliseconds, `14:05:09.120`. */
export function formatClock(ms: number, utc = false): string {
  const date = shown(ms, utc);
  if (Number.isNaN(date.getTime())) return "–";
  return `${pad(date.getHours())}:${pad(date.getMinutes())}:${pad(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}

/** Local date and time, `2026-11-20 14:05:09`. */
export function formatMoment(ms: number, utc = false): string {
  const date = shown(ms, utc);
  if (Number.isNaN(date.getTime())) return "–";
  return `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())} ${formatClock(ms, utc).slice(0, 8)}`;
}

/** Marks of an axis of time: `14:05`, with seconds where the marks are closer than a minute, and the date below the first mark of each day. */
export function formatTicks(times: readonly number[], utc = false): string[] {
  const moments = times.map((ms) => formatMoment(ms, utc).split(" "));
  const isClose = times.some((ms, index) => ms - (times[index - 1] ?? Number.NEGATIVE_INFINITY) < 60_000);
  return moments.map(([date = "", clock = ""], index) => {
    const text = clock.slice(0, isClose ? 8 : 5);
    return date === moments[index - 1]?.[0] ? text : `${text}\n${date}`;
  });
}

/** The end of an id, which is what tells time-ordered ids apart. */
export function shortId(id: string): string {
  return id.length <= 12 ? id : `…${id.slice(-8)}`;
}

function pad(value: number): string {
  return String(value).padStart(2, "0");
}
