/** What sessions of PostgreSQL are set to, on a server and within this process. */

/**
 * Settings of each session. Searches go on along the index until enough rows pass the filter, however few those are;
 * plans are made for the values of a call, so that a partial index or a rare tenant is seen; a query ends soon after
 * its client has gone. The second statement may fail on old servers.
 */
export const SESSION_SQL = "SET default_transaction_read_only = on; SET TimeZone = 'UTC'; SET plan_cache_mode = force_custom_plan; SET jit = off";
export const SEARCH_SQL = [
  "SET hnsw.iterative_scan = strict_order; SET hnsw.max_scan_tuples = 2147483647; SET hnsw.scan_mem_multiplier = 1000",
  "SET ivfflat.iterative_scan = relaxed_order; SET ivfflat.max_probes = 32768",
  "SET client_connection_check_interval = '1s'",
] as const;
