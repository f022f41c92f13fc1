import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import {
  isForWiretape,
  type HeldRecord,
  type HttpHeaders,
  type HttpRecord,
  type MessageRecord,
  type Part,
} from '../../src/model/index.js'
import { factWords, formatDuration, linkWords, ownAnswerWords, phaseWords } from '../../src/render/index.js'
import { clean } from '../shell/clean.js'
import { reader, tellFailure } from '../store/actions.js'
import { oursOf } from '../store/exchange.js'
import { lanes, table } from '../store/state.js'
import type { Detail } from '../worker/protocol.js'

/** The context of a message: HTTP, server-sent events, redaction, links. */
export function Around({
  record,
  part,
  row,
}: {
  readonly record: MessageRecord | HeldRecord | HttpRecord
  readonly part?: Part
  /** The message's row, to find the headers of its HTTP exchange. */
  readonly row?: number
}) {
  const isMessage = record.type !== 'http'
  const http = isMessage ? record.http : record
  const marks = isMessage ? (record.red ?? []) : []
  const flags = isMessage ? flagsOf(record, part, row ?? -1) : []
  return (
    <div class="around">
      {flags.length > 0 && <p class="quiet">{flags.join(' · ')}</p>}
      {marks.length > 0 && (
        <details open={marks.length <= 5}>
          <summary>
            {marks.length} {marks.length === 1 ? 'value' : 'values'} redacted
          </summary>
          <table class="headers">
            <tbody>
              {marks.slice(0, 200).map((mark, i) => (
                <tr key={i}>
                  <th scope="row">{clean(mark.at)}</th>
                  <td title="Equal secrets of one recording have equal tags">{clean(mark.tag)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </details>
      )}
      {record.sse && (
        <p class="quiet">
          Server-sent event
          {record.sse.event !== undefined && ` “${clean(record.sse.event)}”`}
          {record.sse.id !== undefined && `, id ${clean(record.sse.id)}`}
          {record.sse.retry !== undefined && `, retry ${record.sse.retry} ms`}
        </p>
      )}
      {http && (
        <details open={!isMessage}>
          <summary>
            HTTP exchange {http.exchange}
            {http.method !== undefined && ` · ${clean(http.method)} ${clean(http.path ?? '')}`}
            {http.status !== undefined && ` · ${http.status}`}
          </summary>
          {!isMessage && record.requestHeaders && <Headers title="Request" headers={record.requestHeaders} />}
          {!isMessage && record.requestBody !== undefined && (
            <pre class="plain-text">{clean(record.requestBody)}</pre>
          )}
          {http.phases && <p class="quiet">{phaseWords(http.phases)}</p>}
          {http.headers && <Headers title={isMessage ? '' : 'Response'} headers={http.headers} />}
          {!http.headers && isMessage && row !== undefined && record.direction === 'server_to_client' && (
            <ResponseHeaders row={row} exchange={http.exchange} />
          )}
        </details>
      )}
      {isMessage && record.conversation !== undefined && (
        <p class="quiet">Conversation {clean(record.conversation)}</p>
      )}
    </div>
  )
}

/** Response headers precede the first event, and apply to all messages of the exchange. */
function ResponseHeaders({ row, exchange }: { readonly row: number; readonly exchange: number }) {
  const found = useSignal<HttpHeaders | undefined>(undefined)
  useEffect(() => {
    let gone = false
    reader()
      .call<Detail | undefined>('response', [row, exchange])
      .then((detail) => {
        if (!gone) found.value = headersOf(detail)
      }, tellFailure)
    return () => {
      gone = true
    }
  }, [row, exchange])
  if (!found.value) return <p class="quiet">The headers of this response were not recorded.</p>
  return <Headers title="" headers={found.value} />
}

function headersOf(detail: Detail | undefined): HttpHeaders | undefined {
  const record = detail?.record
  if (record?.type === 'http') return record.headers
  return record?.type === 'message' || record?.type === 'held' ? record.http?.headers : undefined
}

function Headers({ title, headers }: { readonly title: string; readonly headers: HttpHeaders }) {
  return (
    <table class="headers">
      {title !== '' && <caption>{title}</caption>}
      <tbody>
        {headers.map(([name, value], i) => (
          <tr key={i}>
            <th scope="row">{clean(name)}</th>
            <td>{clean(value)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

function flagsOf(record: MessageRecord | HeldRecord, part: Part | undefined, row: number): string[] {
  const flags: string[] = []
  if (record.batch) flags.push(`one of ${record.parts.length} in a batch`)
  if (part?.late) flags.push(factWords.late.text)
  if (part?.duplicateOf !== undefined) flags.push(factWords.duplicate.text)
  if (record.type === 'held') flags.push(fateOf(row))
  else if (record.heldMs !== undefined) flags.push(`held for ${formatDuration(record.heldMs * 1000)}`)
  const ours = row < 0 ? undefined : oursOf(row)
  if (ours !== undefined && record.type !== 'held') flags.push(ours)
  if (record.rule !== undefined) flags.push(`rule ${clean(record.rule)}`)
  if (record.frameEnd === 'crlf') flags.push('line ended with CR LF')
  if (record.frameEnd === 'none') flags.push('line without a line end')
  for (const { kind } of part?.links ?? []) flags.push(linkWords(kind, 'a request'))
  return flags
}

/** The outcome of a held message that has not been forwarded. */
function fateOf(row: number): string {
  if (row >= 0 && oursOf(row) !== undefined) return 'not forwarded: answered by wiretape'
  if (row >= 0 && isForWiretape(table, row)) return ownAnswerWords.why
  if (row >= 0 && table.has(row, 'dropped')) return 'held, then dropped'
  const isLive = row >= 0 && lanes.value[table.lane(row)]?.state === 'following'
  return isLive ? 'held now' : 'held when the recording ended, never forwarded'
}
