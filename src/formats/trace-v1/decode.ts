import type {
  Diagnostic,
  Direction,
  FrameEnd,
  HeldRecord,
  MessageRecord,
  MetaRecord,
  RedactionMark,
  RestartFacts,
  RuleCount,
  TapeRecord,
  Draft,
} from '../../model/index.js'
import { canonicalNumber, envelopeMembers, isFault, JsonObject, kindAt } from '../../wire/index.js'
import { lineSpan } from '../line-span.js'
import { decodeHttp, decodeHttpContext, decodeSse } from './decode-http.js'
import { decodeParts } from './decode-parts.js'
import { LineMembers } from './line-members.js'

/** A record, or the reason why the line is invalid. `version` is set for a meta line of another version. */
export type DecodedLine =
  | { readonly record: TapeRecord }
  | { readonly fault: Diagnostic; readonly version?: string }

/**
 * Reads one line of a tape, without its line feed. Never throws.
 *
 * @param known facts about the line: `checked` means valid JSON; `ascii`, one byte per character
 */
export function decodeLine(text: string, known: KnownOfLine = {}): DecodedLine {
  if (known.checked !== true) return decodeUnchecked(text, known)
  try {
    return decodeUnchecked(text, known)
  } catch {
    // The file was changed since.
    return decodeUnchecked(text, { ...known, checked: false })
  }
}

/** Facts about a line that its reader already knows. */
export interface KnownOfLine {
  readonly checked?: boolean
  readonly ascii?: boolean
  /** Add the values of messages. */
  readonly values?: boolean
}

function decodeUnchecked(
  text: string,
  { checked = false, ascii = false, values = false }: KnownOfLine,
): DecodedLine {
  const span = lineSpan(text, checked)
  if (isFault(span)) {
    return fault('not-json', `not valid JSON: ${span.reason}`, span.at + 1)
  }
  if (kindAt(text, span.start) !== 'object') return fault('not-an-object', 'a line must be one JSON object')
  const object = new JsonObject(text, span.start, insideLine)
  const type = object.string('type')
  if (type === undefined && object.has('type')) return fault('bad-type', '"type" is not a string')
  const line = new LineMembers(object, ascii)
  if (type === undefined) {
    // Lines of other kinds, such as "event" and "telemetry", are additions of another recorder and are kept.
    const dir = object.string('dir')
    if (dir !== undefined && dir !== 'in' && dir !== 'out')
      return { record: { type: 'unknown', name: dir, text: text.slice(span.start, span.end) } }
    const value = values ? (span.value as { raw?: unknown } | undefined)?.raw : undefined
    const frame = decodeFrame(line, 'message', value)
    return typeof frame === 'string' ? fault('bad-message', frame) : { record: frame }
  }
  line.use('type')
  if (type === 'meta') return decodeMeta(line)
  // A line of another recorder may use a known type in another form: it is kept as unknown.
  const record = Object.hasOwn(decoders, type) ? decoders[type as keyof typeof decoders](line) : undefined
  return { record: record ?? { type: 'unknown', name: type, text: text.slice(span.start, span.end) } }
}

/** The message of a line is read in the same pass. */
const insideLine = new Map([['raw', envelopeMembers]])

type Decoder = (line: LineMembers) => TapeRecord | undefined

/** Messages have no type, and a meta line may be of another version. */
const decoders: Readonly<Record<Exclude<TapeRecord['type'], 'message' | 'meta' | 'unknown'>, Decoder>> = {
  end: decodeEnd,
  noise: decodeNoise,
  stderr: decodeStderr,
  gap: decodeGap,
  undelivered: decodeUndelivered,
  http: decodeHttp,
  held: decodeHeld,
  dropped: decodeDropped,
  note: decodeNote,
}

function decodeMeta(line: LineMembers): DecodedLine {
  const version = line.object.raw('v')
  if (version === undefined || canonicalNumber(version) !== '1') {
    const what = version === undefined ? 'no version (`v`)' : `version ${version.slice(0, 40)}`
    return { ...fault('unsupported-version', `the meta line says ${what}`), version: version ?? 'none' }
  }
  line.use('v')
  const startedAt = line.string('startedAt')
  if (startedAt === undefined) return fault('bad-meta', 'the meta line has no "startedAt"')
  const mcpTapVersion = line.string('mcpTapVersion')
  const identity = decodeIdentity(line.object.object('wiretape'))
  if (identity) line.use('wiretape')
  const record: MetaRecord = {
    type: 'meta',
    startedAt,
    label: line.string('label') ?? '',
    command: decodeCommand(line),
    ...(mcpTapVersion !== undefined && { mcpTapVersion }),
    ...(identity && { wiretape: identity }),
    ...line.rest(),
  }
  return { record }
}

function decodeCommand(line: LineMembers): readonly string[] {
  const command = line.object.strings('command')
  const kept = line.object.elements('command')
  if (kept !== undefined && kept === command.length) line.use('command')
  return command
}

function decodeIdentity(object: JsonObject | undefined): MetaRecord['wiretape'] | undefined {
  if (!object) return undefined
  const own = new LineMembers(object)
  const session = own.string('session')
  if (session === undefined) return undefined
  const metadata = object.object('metadata')
  if (metadata) own.use('metadata')
  if (object.raw('url') === 'null') own.use('url')
  const origin = own.string('origin')
  return {
    version: own.string('version') ?? '',
    session,
    transport: own.oneOf('transport', ['stdio', 'sse', 'streamable-http']) ?? 'stdio',
    url: own.string('url') ?? null,
    segment: own.count('segment') ?? 0,
    redaction: own.string('redaction') ?? 'none',
    metadata: metadata?.others() ?? [],
    ...(origin !== undefined && { origin }),
    ...own.rest(),
  }
}

function decodeEnd(line: LineMembers): TapeRecord {
  const object = line.object.object('wiretape')
  if (object) line.use('wiretape')
  const own = object && new LineMembers(object)
  const signal = own?.string('signal')
  const error = own?.string('error')
  const redacted = own && decodeCounts(own)
  const errors = own?.count('errors')
  return {
    type: 'end',
    t: line.string('t') ?? '',
    exitCode: line.number('exitCode') ?? null,
    durationMs: line.number('durationMs') ?? null,
    ...(own && {
      wiretape: {
        messages: own.count('messages') ?? 0,
        ...(errors !== undefined && { errors }),
        ...(own.isTrue('rotated') && { rotated: true as const }),
        ...(signal !== undefined && { signal }),
        ...(error !== undefined && { error }),
        ...(redacted && { redacted }),
        ...(own.isTrue('recovered') && { recovered: true as const }),
        ...own.rest(),
      },
    }),
    ...line.rest(),
  }
}

/** Counts by rule, with any rule names. Repeated rules or invalid counts: kept as an unknown member. */
function decodeCounts(own: LineMembers): RuleCount[] | undefined {
  const counts = own.object.object('redacted')
  if (!counts) return undefined
  const all = counts.others().map(([rule, text]) => ({ rule, count: Number(text) }))
  const names = new Set(all.map(({ rule }) => rule))
  if (names.size < all.length || !all.every(({ count }) => Number.isSafeInteger(count) && count > 0))
    return undefined
  own.use('redacted')
  return all
}

function decodeHeld(line: LineMembers): TapeRecord | undefined {
  const frame = decodeFrame(line, 'held')
  return typeof frame === 'string' ? undefined : frame
}

/** A frame with the line's data, or the reason why the line is invalid. */
function decodeFrame(
  line: LineMembers,
  type: 'message' | 'held',
  value?: unknown,
): MessageRecord | HeldRecord | string {
  const t = line.string('t')
  const direction = directionOf(line)
  const raw = line.object.raw('raw')
  if (t === undefined) return 'a message line has no "t"'
  if (!direction) return '"dir" of a message line is not "in" or "out"'
  if (raw === undefined) return 'a message line has no "raw"'
  line.use('raw')
  const { batch, parts } = decodeParts(line, raw)
  // Member by member: spreading optional members costs more than all other steps, for millions of records.
  const record: Draft<MessageRecord | HeldRecord> = { type, t, direction, raw, batch, parts }
  if (value !== undefined) record.value = value
  const seq = line.count('seq')
  if (seq !== undefined) record.seq = seq
  const us = line.number('us')
  if (us !== undefined) record.us = us
  const conversation = line.string('conv')
  if (conversation !== undefined) record.conversation = conversation
  if (record.type === 'message') takeChange(record, line)
  const rule = line.string('rule')
  if (rule !== undefined) record.rule = rule
  const red = decodeMarks(line)
  if (red) record.red = red
  const http = decodeHttpContext(line)
  if (http) record.http = http
  const sse = decodeSse(line)
  if (sse) record.sse = sse
  const { frameEnd, bytes } = frameOf(line)
  if (frameEnd) record.frameEnd = frameEnd
  if (bytes !== undefined) record.bytes = bytes
  const { extra } = line.rest()
  if (extra) record.extra = extra
  return record
}

/** Changes that a person or a rule made to the message. */
function takeChange(record: Draft<MessageRecord>, line: LineMembers): void {
  if (line.isTrue('modified')) record.modified = true
  const original = line.object.raw('original')
  if (original !== undefined) {
    line.use('original')
    record.original = original
  }
  const heldMs = line.number('heldMs')
  if (heldMs !== undefined) record.heldMs = heldMs
  if (line.isTrue('injected')) record.injected = true
  if (line.isTrue('untimed')) record.untimed = true
}

/** Only when all marks have the form that wiretape writes; otherwise the member is kept as it is. */
function decodeMarks(line: LineMembers): RedactionMark[] | undefined {
  if (!line.object.has('red')) return undefined
  const marks = line.object.objects('red').map((object) => {
    const at = object?.string('at')
    const tag = object?.string('tag')
    const why = object?.string('why')
    const names = why === 'too-many' || why === 'too-deep' ? ['at', 'tag', 'why'] : ['at', 'tag']
    if (at === undefined || tag === undefined || object!.others(names).length > 0) return undefined
    return names.length === 2 ? { at, tag } : { at, tag, why: why as 'too-many' | 'too-deep' }
  })
  const known = marks.filter((mark) => mark !== undefined)
  if (known.length === 0 || known.length < marks.length) return undefined
  line.use('red')
  return known
}

function decodeNoise(line: LineMembers): TapeRecord | undefined {
  const t = line.string('t')
  const text = line.string('text')
  const direction = directionOf(line)
  if (t === undefined || text === undefined || !direction) return undefined
  return { type: 'noise', t, ...usOf(line), direction, text, ...frameOf(line), ...line.rest() }
}

function decodeStderr(line: LineMembers): TapeRecord | undefined {
  const t = line.string('t')
  const text = line.string('text')
  if (t === undefined || text === undefined) return undefined
  return { type: 'stderr', t, ...usOf(line), text, ...frameOf(line), ...line.rest() }
}

function decodeGap(line: LineMembers): TapeRecord | undefined {
  const t = line.string('t')
  const lost = line.count('lost')
  if (t === undefined || lost === undefined) return undefined
  const lostStderr = line.count('stderr')
  const lostBytes = line.count('bytes')
  const direction = directionOf(line)
  const sha256 = line.string('sha256')
  return {
    type: 'gap',
    t,
    ...usOf(line),
    lost,
    ...(lostStderr !== undefined && { lostStderr }),
    ...(lostBytes !== undefined && { lostBytes }),
    why: line.string('why') ?? '',
    ...(direction && { direction }),
    ...(sha256 !== undefined && { sha256 }),
    ...line.rest(),
  }
}

function decodeUndelivered(line: LineMembers): TapeRecord | undefined {
  const t = line.string('t')
  const id = line.string('id')
  if (t === undefined || id === undefined) return undefined
  return { type: 'undelivered', t, ...usOf(line), id, why: line.string('why') ?? '', ...line.rest() }
}

function decodeDropped(line: LineMembers): TapeRecord | undefined {
  const t = line.string('t')
  const id = line.string('id')
  if (t === undefined || id === undefined) return undefined
  const rule = line.string('rule')
  return {
    type: 'dropped',
    t,
    ...usOf(line),
    id,
    why: line.string('why') ?? '',
    ...(rule !== undefined && { rule }),
    ...line.rest(),
  }
}

function decodeNote(line: LineMembers): TapeRecord | undefined {
  const t = line.string('t')
  const text = line.string('text')
  if (t === undefined || text === undefined) return undefined
  const about = line.string('about')
  const restart = decodeRestart(line)
  return {
    type: 'note',
    t,
    ...usOf(line),
    text,
    ...(about !== undefined && { about }),
    ...(restart && { restart }),
    ...line.rest(),
  }
}

/** Only values that would be written identically; others are kept as unknown members. */
function decodeRestart(line: LineMembers): RestartFacts | undefined {
  const said = line.object.object('restart')
  if (!said) return undefined
  const facts = {
    exitCode: said.number('exitCode') ?? 0,
    tookMs: said.number('tookMs') ?? 0,
    unanswered: said.number('unanswered') ?? 0,
    changed: said.strings('changed'),
    fits: said.raw('fits') === 'true',
  }
  if (JSON.stringify(facts) !== line.object.raw('restart')) return undefined
  line.use('restart')
  return facts
}

function usOf(line: LineMembers): { us?: number } {
  const us = line.number('us')
  return us === undefined ? {} : { us }
}

function frameOf(line: LineMembers): { frameEnd?: FrameEnd; bytes?: string } {
  const frame: { frameEnd?: FrameEnd; bytes?: string } = {}
  const frameEnd = line.oneOf('eol', frameEnds)
  const bytes = line.string('bytes')
  if (frameEnd) frame.frameEnd = frameEnd
  if (bytes !== undefined) frame.bytes = bytes
  return frame
}

const frameEnds = ['crlf', 'none'] as const
const directions = ['in', 'out'] as const

function directionOf(line: LineMembers): Direction | undefined {
  const dir = line.oneOf('dir', directions)
  return dir && (dir === 'in' ? 'client_to_server' : 'server_to_client')
}

function fault(code: string, message: string, column?: number): { fault: Diagnostic } {
  return { fault: { severity: 'error', code, message, ...(column !== undefined && { at: { column } }) } }
}
