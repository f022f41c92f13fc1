import { literal, type ViewSource } from '../sql/views.js'

/** Files of an index for DuckDB. */
export interface FleetFiles {
  readonly rows: readonly string[]
  readonly sessions: readonly string[]
  /** Rows that other files already count. */
  readonly skipped: readonly { readonly file: string; readonly segment: string }[]
}

/** The index of a fleet as a source of views. `recording` is the hash of a segment, as for `inspect --at`. */
export function fleetSource({ rows, sessions, skipped }: FleetFiles): ViewSource {
  const list = (files: readonly string[]): string => `[${files.map(literal).join(', ')}]`
  const pairs = skipped.map(({ file, segment }) => `(${literal(file)}, ${literal(segment)})`).join(', ')
  const counted = skipped.length > 0 ? `where (filename, segment) not in (values ${pairs})` : ''
  return {
    statements: [
      `create table fleet_sessions as select * from read_parquet(${list(sessions)}, filename = true) ${counted}`,
      `create table recorded_sessions as select arg_min(segment, segment_number) as recording, session, any_value(host) as host,
        any_value("user") as "user", min(left(facts->>'$.startedAt', 10)) as day, any_value(label) as label,
        any_value(server_name) as server, any_value(client) as client, any_value(transport) as transport,
        arg_max(facts, segment_number) as facts
        from fleet_sessions group by session`,
      `create view recorded_lines as select * from read_parquet(${list(rows)}, filename = true, hive_partitioning = true,
        hive_types_autocast = false) ${counted}`,
      // Later segments of a session do not include its server and client.
      `create view recorded_rows as select r.* exclude (server_name, client, server, segment), r.segment as recording,
        coalesce(r.server_name, s.server) as server, coalesce(r.client, s.client) as client
        from recorded_lines r left join recorded_sessions s using (session)`,
      `create view recorded_messages as select *, case when method = 'tools/call' then subject end as tool from recorded_rows
        where kind in ('request', 'notification', 'result', 'error', 'invalid')`,
      `create view recorded_others as select * from recorded_rows where kind in ('noise', 'stderr', 'gap', 'http')`,
    ],
    more: 'day, host, "user",',
    payload:
      'case when payload_start is null then text else segment_text(recording, payload_start, payload_end) end',
    sessionKey: 'session',
    hasCounts: false,
  }
}
