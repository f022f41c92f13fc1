import { useState } from 'preact/hooks'
import { countOf, formatBytes, indentJson } from '../../src/render/index.js'
import { JsonObject } from '../../src/wire/index.js'
import { isFrameRecord, type HeldRecord, type MessageRecord, type TapeRecord } from '../../src/model/index.js'
import { Blocks } from '../json/blocks.js'
import { blocksIn } from '../json/content.js'
import { JsonOrTable } from '../json/list-table.js'
import { Marked } from '../json/marked.js'
import { JsonTree } from '../json/tree.js'
import { timeText } from '../list/row.js'
import { clean } from '../shell/clean.js'
import { Later } from '../shell/views.js'
import { Arrow } from '../shell/icons.js'
import { origin, table } from '../store/state.js'
import type { Detail } from '../worker/protocol.js'
import { Around } from './around.js'

type Mode = 'read' | 'json' | 'raw'

/** One message or other record, with all known facts. */
export function Message({ detail, search }: { readonly detail: Detail; readonly search: string }) {
  const { record } = detail
  if (!isFrameRecord(record)) return <OtherRecord record={record} search={search} row={detail.row} />
  return <JsonMessage detail={detail} record={record} search={search} />
}

function JsonMessage(props: {
  readonly detail: Detail
  readonly record: MessageRecord | HeldRecord
  readonly search: string
}) {
  const { detail, record, search } = props
  const part = record.parts[detail.part] ?? record.parts[0]!
  const text = record.raw.slice(part.start, part.end)
  const { envelope } = part
  const payload = payloadOf(text)
  const readable = payload !== undefined && readableOf(payload)
  const [mode, setMode] = useState<Mode>(readable ? 'read' : 'json')
  const redacted = new Set((record.red ?? []).map(({ at }) => at))
  const fromServer = record.direction === 'server_to_client'
  return (
    <article class={`message ${fromServer ? 'from-server' : 'from-client'}`}>
      <header class="message-head">
        <h3>
          <Arrow left={fromServer} />
          {envelope.kind}
          <span class="who">{wayOf(detail.row, fromServer)}</span>
        </h3>
        <span class="message-facts">
          {timeText(detail.row, origin.value)} · {formatBytes(table.size(detail.row))}
        </span>
        <div class="modes" role="group" aria-label="Format">
          {(readable ? (['read', 'json', 'raw'] as const) : (['json', 'raw'] as const)).map((one) => (
            <button key={one} type="button" aria-pressed={mode === one} onClick={() => setMode(one)}>
              {one === 'read' ? 'Read' : one === 'json' ? 'JSON' : 'Raw'}
            </button>
          ))}
        </div>
      </header>
      {envelope.kind === 'invalid' && <p class="failure">Not JSON-RPC: {clean(envelope.problem ?? '')}</p>}
      {mode === 'read' && payload && <Readable payload={payload} search={search} redacted={redacted} />}
      {mode === 'json' && <JsonTree text={text} search={search} redacted={redacted} />}
      {mode === 'raw' && (
        <pre class="plain-text raw">
          <Marked text={rawText(text)} search={search} />
        </pre>
      )}
      {record.type === 'message' && record.original !== undefined && (
        <Later part="Original" of={{ original: record.original, sent: record.raw }} />
      )}
      <Around record={record} part={part} row={detail.row} />
    </article>
  )
}

/** The sender and receiver. */
function wayOf(row: number, fromServer: boolean): string {
  const to = fromServer ? 'client' : 'server'
  const peer = fromServer ? 'server' : 'client'
  return table.has(row, 'injected') ? `wiretape to ${to}, on behalf of the ${peer}` : `${peer} to ${to}`
}

const longestRaw = 400_000

function rawText(text: string): string {
  const shown = text.length > longestRaw ? `${text.slice(0, longestRaw)}…` : text
  return shown.split('\n').map(clean).join('\n')
}

interface Payload {
  readonly kind: 'params' | 'result' | 'error'
  readonly text: string
  readonly path: string
}

/** The member of the message that carries its payload. */
function payloadOf(text: string): Payload | undefined {
  const message = JsonObject.in(text)
  if (!message) return undefined
  for (const kind of ['params', 'result', 'error'] as const) {
    const value = message.raw(kind)
    if (value !== undefined) return { kind, text: value, path: `/${kind}` }
  }
  return undefined
}

function readableOf({ kind, text }: Payload): boolean {
  if (text.length > 2_000_000 || !text.startsWith('{')) return false
  if (kind === 'error') return true
  const value: unknown = JSON.parse(text)
  return kind === 'params' ? hasArguments(value) : blocksIn(value).length > 0
}

function hasArguments(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'arguments' in value
}

function Readable(props: {
  readonly payload: Payload
  readonly search: string
  readonly redacted: ReadonlySet<string>
}) {
  const { payload, search, redacted } = props
  const object = new JsonObject(payload.text, 0)
  if (payload.kind === 'error') {
    const data = object.raw('data')
    return (
      <div class="error-box">
        <b>{clean(object.raw('code') ?? '')}</b>
        <p>
          <Marked text={clean(object.string('message') ?? '')} search={search} />
        </p>
        {data !== undefined && <JsonTree text={data} search={search} label="Error data" />}
      </div>
    )
  }
  if (payload.kind === 'params') {
    const below = new Set([...redacted].flatMap((at) => cut(at, '/params/arguments')))
    return <JsonTree text={object.raw('arguments')!} search={search} redacted={below} label="Arguments" />
  }
  const structured = object.raw('structuredContent')
  return (
    <>
      <Blocks blocks={blocksIn(JSON.parse(payload.text))} search={search} />
      {structured !== undefined && (
        <div class="block">
          <span class="block-kind">structured content</span>
          <JsonOrTable text={structured} search={search} label="Structured content" />
        </div>
      )}
    </>
  )
}

function cut(pointer: string, prefix: string): string[] {
  return pointer.startsWith(`${prefix}/`) ? [pointer.slice(prefix.length)] : []
}

function TextRecord(props: {
  readonly kind: string
  readonly heading: string
  readonly facts?: string
  readonly text: string
  readonly search: string
}) {
  return (
    <article class={`message ${props.kind}`}>
      <header class="message-head">
        <h3>{props.heading}</h3>
        {props.facts !== undefined && <span class="message-facts">{props.facts}</span>}
      </header>
      <pre class="plain-text">
        <Marked text={rawText(props.text)} search={props.search} />
      </pre>
    </article>
  )
}

function OtherRecord(props: { readonly record: TapeRecord; readonly search: string; readonly row: number }) {
  const { record, search } = props
  switch (record.type) {
    case 'noise':
    case 'stderr':
      return (
        <TextRecord
          kind=""
          heading={record.type === 'noise' ? 'line that is not JSON' : 'stderr line'}
          text={record.text}
          search={search}
        />
      )
    case 'note':
      return (
        <TextRecord
          kind="note"
          heading={record.restart ? 'server restarted' : 'note'}
          facts={timeText(props.row, origin.value)}
          text={record.text}
          search={search}
        />
      )
    case 'gap':
      return (
        <article class="message">
          <p class="failure">
            Not recorded: {countOf(record.lost, 'message')}
            {record.lostStderr === undefined ? '' : ` and ${countOf(record.lostStderr, 'stderr line')}`}
            {record.lostBytes === undefined ? '' : `, ${formatBytes(record.lostBytes)}`}. {clean(record.why)}
          </p>
          {record.sha256 !== undefined && <p class="quiet">SHA-256 {record.sha256}</p>}
        </article>
      )
    case 'http':
      return (
        <article class="message">
          <header class="message-head">
            <h3>HTTP without JSON-RPC</h3>
          </header>
          {record.why !== undefined && <p class="failure">{clean(record.why)}</p>}
          {record.body !== undefined && record.body !== '' && (
            <pre class="plain-text">
              <Marked text={rawText(bodyText(record.body))} search={search} />
            </pre>
          )}
          <Around record={record} />
        </article>
      )
    case 'unknown':
      return (
        <article class="message">
          <header class="message-head">
            <h3>{clean(record.name)}</h3>
          </header>
          <pre class="plain-text">
            <Marked text={rawText(record.text)} search={search} />
          </pre>
        </article>
      )
    default:
      return <p class="quiet">A line of unknown type.</p>
  }
}

function bodyText(body: string): string {
  return body.length < 200_000 ? indentJson(body) : body
}
