import type {
  Direction,
  EndRecord,
  GapRecord,
  HeldRecord,
  HttpContext,
  HttpHeaders,
  HttpPhases,
  HttpRecord,
  JsonMembers,
  MessageRecord,
  MetaRecord,
  NoiseRecord,
  Part,
  StderrRecord,
  TapeRecord,
} from '../../model/index.js'

export interface EncodeOptions {
  /** Only the line types and members of the published format. @default false */
  readonly strict?: boolean
}

/** One line of a tape with its line feed, or '' for a record that the strict form omits. */
export function encodeRecord(record: TapeRecord, options: EncodeOptions = {}): string {
  const strict = options.strict === true
  switch (record.type) {
    case 'meta':
      return encodeMeta(record, strict)
    case 'message':
      return encodeMessage(record, strict)
    case 'end':
      return encodeEnd(record, strict)
    default:
      return strict ? '' : encodeOther(record)
  }
}

/** Writes one object. Members in `extra` are written unchanged, so they are not written again. */
class ObjectWriter {
  readonly #extra: JsonMembers
  #members = ''

  constructor(extra: JsonMembers = []) {
    this.#extra = extra
  }

  /** @param json the value as JSON text; undefined leaves the member out */
  add(name: string, json: string | number | undefined): void {
    if (json === undefined || this.#extra.some(([kept]) => kept === name)) return
    this.#members += `${this.#members === '' ? '' : ','}${quoted(name)}:${json}`
  }

  text(name: string, value: string | undefined): void {
    if (value !== undefined) this.add(name, JSON.stringify(value))
  }

  /** The whole object. */
  close(): string {
    for (const [name, json] of this.#extra) {
      this.#members += `${this.#members === '' ? '' : ','}${JSON.stringify(name)}:${json}`
    }
    return `{${this.#members}}`
  }
}

function encodeMeta(meta: MetaRecord, strict: boolean): string {
  const line = new ObjectWriter(strict ? [] : meta.extra)
  line.add('v', 1)
  line.add('type', '"meta"')
  line.text('startedAt', meta.startedAt)
  line.text('label', meta.label)
  line.add('command', JSON.stringify(meta.command))
  line.text('mcpTapVersion', meta.mcpTapVersion)
  const own = meta.wiretape
  if (own && !strict) {
    const identity = new ObjectWriter(own.extra)
    identity.text('version', own.version)
    identity.text('session', own.session)
    identity.text('transport', own.transport)
    identity.add('url', JSON.stringify(own.url))
    identity.add('segment', own.segment)
    identity.text('redaction', own.redaction)
    identity.add('metadata', new ObjectWriter(own.metadata).close())
    if (own.origin !== undefined) identity.text('origin', own.origin)
    line.add('wiretape', identity.close())
  }
  return `${line.close()}\n`
}

/** The part of a message line before `raw`. */
export function encodeHead(t: string, direction: Direction): string {
  return `{"t":${quoted(t)},"dir":"${direction === 'client_to_server' ? 'in' : 'out'}","raw":`
}

/**
 * A message line without its `raw`: the parts before and after it. For writers that have the message as bytes
 * and need not join it into a string first.
 */
export function encodeMessageAround(
  record: MessageRecord,
  options: EncodeOptions = {},
): { readonly head: string; readonly tail: string } {
  const head = encodeHead(record.t, record.direction)
  if (options.strict) return { head, tail: '}\n' }
  if (record.extra) {
    // Extra members may replace known ones, so the line must be encoded as a whole.
    const line = encodeMessage({ ...record, raw: '0' }, false)
    const at = line.indexOf('"raw":') + '"raw":'.length
    return { head: line.slice(0, at), tail: line.slice(at + 1) }
  }
  return { head, tail: encodeMessageTail(record) }
}

/** The end of a line, from after its message on, for a record without unknown members. Equal to ObjectWriter's, in a tenth of the time. */
export function encodeMessageTail(record: MessageRecord | HeldRecord): string {
  const first = record.parts[0]!
  let tail = first.id === undefined ? '' : `,"id":${quoted(first.id)}`
  if (!record.batch) {
    if (first.correlatedId !== undefined) tail += `,"corr":${quoted(first.correlatedId)}`
    if (first.late) tail += ',"late":true'
    if (first.duplicateOf !== undefined) tail += `,"dup":${quoted(first.duplicateOf)}`
    if (first.links) tail += `,"linked":${JSON.stringify(first.links)}`
  }
  if (record.seq !== undefined) tail += `,"seq":${record.seq}`
  if (record.us !== undefined) tail += `,"us":${record.us}`
  if (record.conversation !== undefined) tail += `,"conv":${quoted(record.conversation)}`
  if (record.batch && record.parts.some((part) => part.id !== undefined)) {
    tail += `,"batch":[${record.parts.map(notesOf).join(',')}]`
  }
  if (record.type === 'message') {
    if (record.modified) tail += ',"modified":true'
    if (record.original !== undefined) tail += `,"original":${record.original}`
    if (record.heldMs !== undefined) tail += `,"heldMs":${record.heldMs}`
    if (record.injected) tail += ',"injected":true'
    if (record.untimed) tail += ',"untimed":true'
  }
  if (record.rule !== undefined) tail += `,"rule":${quoted(record.rule)}`
  if (record.red) tail += `,"red":${JSON.stringify(record.red)}`
  if (record.http) tail += `,"http":${httpOf(record.http)}`
  if (record.sse) tail += `,"sse":${JSON.stringify(record.sse)}`
  if (record.frameEnd !== undefined) tail += `,"eol":"${record.frameEnd}"`
  if (record.bytes !== undefined) tail += `,"bytes":${quoted(record.bytes)}`
  return `${tail}}\n`
}

/** A JSON string. Most texts of a recorder need no escapes. */
function quoted(text: string): string {
  return plain.test(text) ? `"${text}"` : JSON.stringify(text)
}

const plain = /^[ !#-[\]-~]*$/

function encodeMessage(record: MessageRecord, strict: boolean): string {
  if (strict || !record.extra) {
    const { head, tail } = encodeMessageAround(record, { strict })
    return head + record.raw + tail
  }
  return encodeFrame(record)
}

/** A frame whose line has unknown members. */
function encodeFrame(record: MessageRecord | HeldRecord): string {
  const line = new ObjectWriter(record.extra)
  if (record.type === 'held') line.text('type', 'held')
  line.text('t', record.t)
  line.add('dir', `"${dirOf(record)}"`)
  line.add('raw', record.raw)
  if (record.batch) line.text('id', record.parts[0]?.id)
  else addNotes(line, record.parts[0]!)
  line.add('seq', record.seq)
  line.add('us', record.us)
  line.text('conv', record.conversation)
  if (record.batch && record.parts.some((part) => part.id !== undefined)) {
    line.add('batch', `[${record.parts.map(notesOf).join(',')}]`)
  }
  if (record.type === 'message') {
    if (record.modified) line.add('modified', 'true')
    line.add('original', record.original)
    line.add('heldMs', record.heldMs)
    if (record.injected) line.add('injected', 'true')
    if (record.untimed) line.add('untimed', 'true')
  }
  line.text('rule', record.rule)
  if (record.red) line.add('red', JSON.stringify(record.red))
  if (record.http) line.add('http', httpOf(record.http))
  if (record.sse) line.add('sse', JSON.stringify(record.sse))
  addFrame(line, record)
  return `${line.close()}\n`
}

/** Data of one message besides its text. */
function addNotes(line: ObjectWriter, part: Part): void {
  line.text('id', part.id)
  line.text('corr', part.correlatedId)
  if (part.late) line.add('late', 'true')
  line.text('dup', part.duplicateOf)
  if (part.links) line.add('linked', JSON.stringify(part.links))
}

function notesOf(part: Part): string {
  const notes = new ObjectWriter()
  addNotes(notes, part)
  return notes.close()
}

function encodeEnd(end: EndRecord, strict: boolean): string {
  const line = new ObjectWriter(strict ? [] : end.extra)
  if (strict || end.t !== '') line.text('t', end.t)
  line.add('type', '"end"')
  // Trace v1 requires numbers, and 0 would mean success.
  line.add('exitCode', end.exitCode ?? (strict ? 1 : undefined))
  line.add('durationMs', end.durationMs ?? (strict ? 0 : undefined))
  if (end.wiretape && !strict) {
    const { messages, errors, rotated, signal, error, redacted, recovered, extra } = end.wiretape
    const own = new ObjectWriter(extra)
    own.add('messages', messages)
    own.add('errors', errors)
    if (rotated) own.add('rotated', 'true')
    own.text('signal', signal)
    own.text('error', error)
    if (redacted) {
      const counts = new ObjectWriter()
      for (const { rule, count } of redacted) counts.add(rule, count)
      own.add('redacted', counts.close())
    }
    if (recovered) own.add('recovered', 'true')
    line.add('wiretape', own.close())
  }
  return `${line.close()}\n`
}

type Other = Exclude<TapeRecord, { type: 'meta' | 'message' | 'end' }>

function encodeOther(record: Other): string {
  if (record.type === 'unknown') return `${record.text}\n`
  if (record.type === 'held') {
    if (record.extra) return encodeFrame(record)
    return `{"type":"held","t":${quoted(record.t)},"dir":"${dirOf(record)}","raw":${record.raw}${encodeMessageTail(record)}`
  }
  const line = new ObjectWriter(record.extra)
  line.text('type', record.type)
  line.text('t', record.t)
  line.add('us', record.us)
  switch (record.type) {
    case 'noise':
      line.add('dir', `"${dirOf(record)}"`)
      line.text('text', record.text)
      addFrame(line, record)
      break
    case 'stderr':
      line.text('text', record.text)
      addFrame(line, record)
      break
    case 'http':
      addHttp(line, record)
      break
    case 'gap':
      addGap(line, record)
      break
    case 'undelivered':
      line.text('id', record.id)
      line.text('why', record.why)
      break
    case 'dropped':
      line.text('id', record.id)
      line.text('why', record.why)
      line.text('rule', record.rule)
      break
    case 'note':
      line.text('about', record.about)
      line.text('text', record.text)
      if (record.restart) line.add('restart', JSON.stringify(record.restart))
      break
  }
  return `${line.close()}\n`
}

function httpOf(context: HttpContext): string {
  const { exchange, phases } = context
  const http = `{"exchange":${exchange}${encodeHttpHead(context)}`
  return phases ? `${http},"phases":${phasesOf(phases)}}` : `${http}}`
}

/** The members of a context between `exchange` and `phases`. */
export function encodeHttpHead({ method, path, status, headers }: HttpContext): string {
  let http = ''
  if (method !== undefined) http += `,"method":${quoted(method)}`
  if (path !== undefined) http += `,"path":${quoted(path)}`
  if (status !== undefined) http += `,"status":${status}`
  if (headers) http += `,"headers":${headersText(headers)}`
  return http
}

const mostHeaders = 128
const longestHeaders = 4096
/** JSON texts of the last lists of headers. Recorders use one list for equal heads. */
const headerTexts = new Map<HttpHeaders, string>()

function headersText(headers: HttpHeaders): string {
  const known = headerTexts.get(headers)
  if (known !== undefined) return known
  const text = JSON.stringify(headers)
  if (text.length > longestHeaders) return text
  if (headerTexts.size >= mostHeaders) headerTexts.clear()
  headerTexts.set(headers, text)
  return text
}

/** Rounded to microseconds, the resolution of clocks. */
function phasesOf({ dnsMs, connectMs, tlsMs, waitMs }: HttpPhases): string {
  if ((dnsMs ?? connectMs ?? tlsMs) === undefined) return `{"waitMs":${Math.round(waitMs * 1000) / 1000}}`
  const phases = new ObjectWriter()
  phases.add('dnsMs', dnsMs && Math.round(dnsMs * 1000) / 1000)
  phases.add('connectMs', connectMs && Math.round(connectMs * 1000) / 1000)
  phases.add('tlsMs', tlsMs && Math.round(tlsMs * 1000) / 1000)
  phases.add('waitMs', Math.round(waitMs * 1000) / 1000)
  return phases.close()
}

function addHttp(line: ObjectWriter, record: HttpRecord): void {
  line.add('exchange', record.exchange)
  line.text('conv', record.conversation)
  line.text('method', record.method)
  line.text('path', record.path)
  if (record.requestHeaders) line.add('requestHeaders', JSON.stringify(record.requestHeaders))
  line.text('requestBody', record.requestBody)
  line.add('status', record.status)
  if (record.headers) line.add('headers', JSON.stringify(record.headers))
  if (record.phases) line.add('phases', phasesOf(record.phases))
  line.text('body', record.body)
  line.text('bytes', record.bytes)
  line.add('sizeBytes', record.sizeBytes)
  if (record.sse) line.add('sse', JSON.stringify(record.sse))
  line.text('why', record.why)
}

function addGap(line: ObjectWriter, gap: GapRecord): void {
  line.add('lost', gap.lost)
  line.add('stderr', gap.lostStderr)
  line.add('bytes', gap.lostBytes)
  if (gap.direction) line.add('dir', gap.direction === 'client_to_server' ? '"in"' : '"out"')
  line.text('sha256', gap.sha256)
  line.text('why', gap.why)
}

function addFrame(line: ObjectWriter, record: MessageRecord | HeldRecord | NoiseRecord | StderrRecord): void {
  line.text('eol', record.frameEnd)
  line.text('bytes', record.bytes)
}

function dirOf(record: MessageRecord | HeldRecord | NoiseRecord): 'in' | 'out' {
  return record.direction === 'client_to_server' ? 'in' : 'out'
}
