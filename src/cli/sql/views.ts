import type { RowFile } from './batch-folder.js'

/** The views over indexes of recordings, in order of creation. */
export const views = ['messages', 'others', 'exchanges', 'sessions', 'tools', 'findings'] as const

/** Source of the views: it first creates `recorded_messages`, `recorded_others` and `recorded_sessions`. */
export interface ViewSource {
  readonly statements: readonly string[]
  /** Additional columns of every view, each followed by a comma. */
  readonly more: string
  /** The exact text of a message of `recorded_messages`. */
  readonly payload: string
  /** Columns that identify a session. */
  readonly sessionKey: string
  /** The facts of a session include its numbers of messages and errors. */
  readonly hasCounts: boolean
}

/** Indexes of recordings. */
export function recordingSource(files: readonly RowFile[]): ViewSource {
  return {
    statements: [
      `create or replace view recorded_messages as ${rowsIn(files, 'messages')}`,
      `create or replace view recorded_rows as ${rowsIn(files, 'others')}`,
      `create or replace view recorded_others as select * from recorded_rows where kind <> 'session'`,
      `create or replace view recorded_sessions as select recording, session, label, server, client, transport, text as facts
      from recorded_rows where kind = 'session'`,
    ],
    more: '',
    payload:
      'case when file is null then text else recorded_text(part, file, payload_start, payload_end) end',
    sessionKey: 'recording, session',
    hasCounts: true,
  }
}

function rowsIn(files: readonly RowFile[], kind: 'messages' | 'others'): string {
  const whole = files.filter(({ parts }) => parts === undefined)
  const tables = [
    ...(whole.length > 0 ? [`read_parquet([${whole.map((file) => literal(file[kind])).join(', ')}])`] : []),
    ...files.flatMap((file) =>
      file.parts
        ? [`read_parquet(${literal(file[kind])}) where part in (${file.parts.map(literal).join(', ')})`]
        : [],
    ),
  ]
  return tables.map((table) => `select * from ${table}`).join(' union all ')
}

/**
 * Statements that make the views.
 *
 * @param findings a JSON lines file for each recording; undefined if not requested
 */
export function viewStatements(
  { statements, more, payload, sessionKey, hasCounts }: ViewSource,
  findings: readonly string[] | undefined,
): string[] {
  const moreOf = (table: string): string => more.replaceAll(/[^,\s]+,/g, (column) => `${table}.${column}`)
  return [
    ...statements,
    `create or replace view messages as select recording, session, ${more} label, server, client, transport, seq,
      epoch_ms(cast(time_ms as bigint)) as time, offset_ms, direction, kind, method, subject,
      tool, id, answers,
      latency_ms, waited_ms, held_ms, error_code, error_message, is_error, conversation, http_status,
      modified, injected, dropped, cancelled, cast(size_bytes as bigint) as size_bytes,
      ${payload} as payload,
      row as row_number, peer_row
      from recorded_messages`,
    `create or replace view others as select recording, session, ${more} label, server, client,
      epoch_ms(cast(time_ms as bigint)) as time, offset_ms, direction, kind, method, subject, conversation, http_status,
      cast(size_bytes as bigint) as size_bytes, text
      from recorded_others`,
    `create or replace view exchanges as select q.recording, q.session, ${moreOf('q')} q.label, q.server, q.client, q.seq, a.seq as response_seq, q.time,
      q.direction, q.method, q.subject, q.tool, q.id, q.conversation,
      coalesce(a.kind, 'unanswered') as outcome, a.latency_ms, a.waited_ms, q.held_ms, coalesce(a.is_error, false) as is_error,
      a.error_code, a.error_message, q.cancelled, coalesce(a.http_status, q.http_status) as http_status,
      q.size_bytes as request_bytes, a.size_bytes as response_bytes, q.payload as request, a.payload as response
      from (select * from messages where kind = 'request') q
      left join (select * from messages where kind in ('result', 'error')) a
      on a.recording = q.recording and a.row_number = q.peer_row`,
    `create or replace view sessions as select s.recording, s.session, ${moreOf('s')} s.label, s.server, s.client, s.transport,
      s.facts->>'$.command' as command, s.facts->>'$.url' as url,
      try_cast(s.facts->>'$.startedAt' as timestamptz) at time zone 'UTC' as started,
      try_cast(s.facts->>'$.endedAt' as timestamptz) at time zone 'UTC' as ended,
      try_cast(s.facts->>'$.durationMs' as double) as duration_ms, try_cast(s.facts->>'$.exitCode' as integer) as exit_code,
      s.facts->>'$.signal' as signal, s.facts->>'$.error' as error, cast(s.facts->>'$.complete' as boolean) as complete,
      s.facts->>'$.protocolVersion' as protocol_version, s.facts->>'$.redaction' as redaction,
      ${hasCounts ? ownCounts : `coalesce(c.messages, 0) as messages, coalesce(c.errors, 0) as errors`}
      from recorded_sessions s ${hasCounts ? '' : countsJoin(sessionKey)}`,
    `create or replace view tools as with listed as (
        select server, unnest(try(json_extract(payload, '$.result.tools[*]'))) as tool
        from messages where kind = 'result' and method = 'tools/list'
      ), offered as (
        select server, tool->>'$.name' as tool, last(tool->>'$.description') as description, last(tool) as definition,
          count(distinct cast(tool as varchar)) as versions
        from listed group by all
      ), called as (
        select server, tool, count(*) filter (kind = 'request') as calls, count(*) filter (is_error) as errors,
          quantile_cont(latency_ms, 0.5) as p50_ms, quantile_cont(latency_ms, 0.95) as p95_ms,
          quantile_cont(latency_ms, 0.99) as p99_ms, max(latency_ms) as slowest_ms
        from messages where tool is not null and kind in ('request', 'result', 'error') group by all
        having calls > 0
      )
      select coalesce(o.server, c.server) as server, coalesce(o.tool, c.tool) as tool, coalesce(c.calls, 0) as calls,
        coalesce(c.errors, 0) as errors, c.p50_ms, c.p95_ms, c.p99_ms, c.slowest_ms, o.tool is not null as offered,
        coalesce(o.versions, 0) as versions, o.description, o.definition
      from offered o full join called c on o.server is not distinct from c.server and o.tool = c.tool`,
    ...(findings ? [findingsStatement(findings)] : []),
  ]
}

const ownCounts = `cast(s.facts->>'$.messages' as bigint) as messages, cast(s.facts->>'$.errors' as bigint) as errors`

function countsJoin(sessionKey: string): string {
  return `left join (select ${sessionKey}, count(*) as messages, count(*) filter (is_error) as errors
    from recorded_messages where seq is not null group by all) c
    using (${sessionKey})`
}

/** Statement that makes the view of findings. */
export function findingsStatement(files: readonly string[]): string {
  return `create or replace view findings as select * from read_json([${files.map(literal).join(', ')}], format = 'newline_delimited',
    columns = {recording: 'VARCHAR', server: 'VARCHAR', rule: 'VARCHAR', pack: 'VARCHAR', level: 'VARCHAR', certainty: 'VARCHAR',
    message: 'VARCHAR', tool: 'VARCHAR', place: 'VARCHAR', seq: 'BIGINT', seqs: 'BIGINT[]'})`
}

/** An SQL string literal. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
