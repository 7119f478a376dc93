/** The smallest catalog that has something to guard: one counting tool over an embedded store. */
export const COUNT_CATALOG = `tds_version: '2'
connections:
  store: { backend: sqlite, path: ./store.db }
tools:
  - name: count_things
    kind: count
    description: Count the things of the store. Use for questions after a number.
    target: { connection: store, collection: things }
    static_filters: [{ path: owner, value: me }]
`;

/** How a command ended, and what it wrote. */
export interface Ended {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}
