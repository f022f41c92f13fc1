import type {
  Diagnostic,
  Direction,
  FrameEnd,
  JsonMembers,
  Link,
  LinkKind,
  MetaRecord,
  Part,
  TapeRecord,
  Transport,
} from '../../model/index.js'
import { elementsOf, findJsonValue, isFault, JsonObject, kindAt, readEnvelope } from '../../wire/index.js'

/** A record, or why the line is none. `version` is set when the line is a meta line of another version. */
export type DecodedLine =
  | { readonly record: TapeRecord }
  | { readonly fault: Diagnostic; readonly version?: string }

/** Reads one line of a tape, given without its line feed. Never throws. */
export function decodeLine(text: string): DecodedLine {
  const span = findJsonValue(text)
  if (isFault(span)) {
    return fault('not-json', `not valid JSON: ${span.reason} at column ${span.at + 1}`, span.at + 1)
  }
  if (kindAt(text, span.start) !== 'object') return fault('not-an-object', 'a line holds one JSON object')
  const line = new JsonObject(text, span.start)
  const type = line.string('type')
  if (type === undefined) {
    return line.has('type') ? fault('bad-type', '"type" is not a string') : decodeMessage(line)
  }
  const decode = decoders[type]
  return decode
    ? decode(line)
    : { record: { type: 'unknown', name: type, text: text.slice(span.start, span.end) } }
}

const decoders: Readonly<Record<string, ((line: JsonObject) => DecodedLine) | undefined>> = {
  __proto__: null as never,
  meta: decodeMeta,
  end: decodeEnd,
  noise: decodeNoise,
  stderr: decodeStderr,
  gap: decodeGap,
  undelivered: decodeUndelivered,
}

function decodeMeta(line: JsonObject): DecodedLine {
  const version = line.raw('v')
  if (version !== '1') {
    const what = version === undefined ? 'no version (`v`)' : `version ${version.slice(0, 40)}`
    return { ...fault('unsupported-version', `the meta line says ${what}`), version: version ?? 'none' }
  }
  const startedAt = line.string('startedAt')
  if (startedAt === undefined) return fault('bad-meta', 'the meta line has no "startedAt"')
  const mcpTapVersion = line.string('mcpTapVersion')
  const identity = line.object('wiretape')
  const decoded = identity && decodeIdentity(identity)
  const record: MetaRecord = {
    type: 'meta',
    startedAt,
    label: line.string('label') ?? '',
    command: line.strings('command'),
    ...(mcpTapVersion !== undefined && { mcpTapVersion }),
    ...(decoded && { wiretape: decoded }),
    ...extraOf(
      line,
      'v',
      'type',
      'startedAt',
      'label',
      'command',
      'mcpTapVersion',
      decoded ? 'wiretape' : '',
    ),
  }
  return { record }
}

function decodeIdentity(own: JsonObject): MetaRecord['wiretape'] | undefined {
  const session = own.string('session')
  if (session === undefined) return undefined
  return {
    version: own.string('version') ?? '',
    session,
    transport: transportOf(own.string('transport')),
    url: own.string('url') ?? null,
    segment: own.number('segment') ?? 0,
    redaction: own.string('redaction') ?? 'none',
    metadata: own.object('metadata')?.others() ?? [],
    ...extraOf(own, 'version', 'session', 'transport', 'url', 'segment', 'redaction', 'metadata'),
  }
}

function decodeEnd(line: JsonObject): DecodedLine {
  const own = line.object('wiretape')
  const signal = own?.string('signal')
  const error = own?.string('error')
  return {
    record: {
      type: 'end',
      t: line.string('t') ?? '',
      exitCode: line.number('exitCode') ?? 0,
      durationMs: line.number('durationMs') ?? 0,
      ...(own && {
        wiretape: {
          messages: own.number('messages') ?? 0,
          ...(own.raw('rotated') === 'true' && { rotated: true as const }),
          ...(signal !== undefined && { signal }),
          ...(error !== undefined && { error }),
          ...(own.raw('recovered') === 'true' && { recovered: true as const }),
          ...extraOf(own, 'messages', 'rotated', 'signal', 'error', 'recovered'),
        },
      }),
      ...extraOf(line, 't', 'type', 'exitCode', 'durationMs', 'wiretape'),
    },
  }
}

const messageMembers = [
  't',
  'dir',
  'raw',
  'id',
  'seq',
  'us',
  'conv',
  'corr',
  'late',
  'dup',
  'linked',
  'batch',
] as const

function decodeMessage(line: JsonObject): DecodedLine {
  const t = line.string('t')
  const direction = directionOf(line.string('dir'))
  const raw = line.raw('raw')
  if (t === undefined) return fault('bad-message', 'a message line has no "t"')
  if (!direction) return fault('bad-message', '"dir" of a message line is not "in" or "out"')
  if (raw === undefined) return fault('bad-message', 'a message line has no "raw"')
  const batch = kindAt(raw, 0) === 'array'
  const parts = batch ? batchParts(line, raw) : [decodePart(line, raw, 0, raw.length)]
  if (parts.length === 0)
    parts.push({ envelope: { kind: 'invalid', problem: 'an empty batch' }, start: 0, end: raw.length })
  const conversation = line.string('conv')
  return {
    record: {
      type: 'message',
      t,
      direction,
      raw,
      batch,
      parts,
      ...numberAs(line, 'seq', 'seq'),
      ...numberAs(line, 'us', 'us'),
      ...(conversation !== undefined && { conversation }),
      ...frameOf(line),
      ...extraOf(line, ...messageMembers, 'eol', 'bytes'),
    },
  }
}

/** Elements of a batch; what we say about each stands in the array `batch`, in the same order. */
function batchParts(line: JsonObject, raw: string): Part[] {
  const notes = line.objects('batch')
  return elementsOf(raw, 0).map((span, i) => decodePart(notes[i], raw, span.start, span.end))
}

function decodePart(note: JsonObject | undefined, raw: string, start: number, end: number): Part {
  const envelope = readEnvelope(raw, start)
  if (!note) return { envelope, start, end }
  const id = note.string('id')
  const correlatedId = note.string('corr')
  const duplicateOf = note.string('dup')
  const links = note.objects('linked').flatMap(decodeLink)
  return {
    ...(id !== undefined && { id }),
    envelope,
    start,
    end,
    ...(correlatedId !== undefined && { correlatedId }),
    ...(note.raw('late') === 'true' && { late: true as const }),
    ...(duplicateOf !== undefined && { duplicateOf }),
    ...(links.length > 0 && { links }),
  }
}

const linkKinds: readonly string[] = [
  'progress',
  'cancel',
  'task',
  'round',
  'subscription',
] satisfies LinkKind[]

function decodeLink(link: JsonObject | undefined): Link[] {
  if (!link) return []
  const kind = link.string('kind')
  const to = link.string('to')
  return kind !== undefined && to !== undefined && linkKinds.includes(kind)
    ? [{ kind: kind as LinkKind, to }]
    : []
}

function decodeNoise(line: JsonObject): DecodedLine {
  const direction = directionOf(line.string('dir')) ?? 'server_to_client'
  return {
    record: {
      type: 'noise',
      ...observed(line),
      direction,
      ...textOf(line),
      ...extraOf(line, 'type', 't', 'us', 'dir', 'text', 'eol', 'bytes'),
    },
  }
}

function decodeStderr(line: JsonObject): DecodedLine {
  return {
    record: {
      type: 'stderr',
      ...observed(line),
      ...textOf(line),
      ...extraOf(line, 'type', 't', 'us', 'text', 'eol', 'bytes'),
    },
  }
}

function decodeGap(line: JsonObject): DecodedLine {
  const direction = directionOf(line.string('dir'))
  const sha256 = line.string('sha256')
  return {
    record: {
      type: 'gap',
      ...observed(line),
      lost: line.number('lost') ?? 0,
      ...numberAs(line, 'stderr', 'lostStderr'),
      ...numberAs(line, 'bytes', 'lostBytes'),
      why: line.string('why') ?? '',
      ...(direction && { direction }),
      ...(sha256 !== undefined && { sha256 }),
      ...extraOf(line, 'type', 't', 'us', 'lost', 'stderr', 'bytes', 'why', 'dir', 'sha256'),
    },
  }
}

function decodeUndelivered(line: JsonObject): DecodedLine {
  const id = line.string('id')
  if (id === undefined) return fault('bad-record', 'an "undelivered" line has no "id"')
  return {
    record: {
      type: 'undelivered',
      ...observed(line),
      id,
      why: line.string('why') ?? '',
      ...extraOf(line, 'type', 't', 'us', 'id', 'why'),
    },
  }
}

function observed(line: JsonObject): { t: string; us?: number } {
  return { t: line.string('t') ?? '', ...numberAs(line, 'us', 'us') }
}

function textOf(line: JsonObject): { text: string; frameEnd?: FrameEnd; bytes?: string } {
  return { text: line.string('text') ?? '', ...frameOf(line) }
}

function frameOf(line: JsonObject): { frameEnd?: FrameEnd; bytes?: string } {
  const end = line.string('eol')
  const bytes = line.string('bytes')
  return {
    ...((end === 'crlf' || end === 'none') && { frameEnd: end }),
    ...(bytes !== undefined && { bytes }),
  }
}

function directionOf(dir: string | undefined): Direction | undefined {
  if (dir === 'in') return 'client_to_server'
  return dir === 'out' ? 'server_to_client' : undefined
}

function transportOf(name: string | undefined): Transport {
  return name === 'sse' || name === 'streamable-http' ? name : 'stdio'
}

function fault(code: string, message: string, column?: number): { fault: Diagnostic } {
  return { fault: { severity: 'error', code, message, ...(column !== undefined && { at: { column } }) } }
}

/** The members that have no name here, so that a rewrite keeps them. */
function extraOf(object: JsonObject, ...known: string[]): { extra?: JsonMembers } {
  const extra = object.others(known)
  return extra.length > 0 ? { extra } : {}
}

function numberAs<K extends string>(object: JsonObject, name: string, as: K): { [P in K]?: number } {
  const value = object.number(name)
  return (value === undefined ? {} : { [as]: value }) as { [P in K]?: number }
}
