import type {
  EndRecord,
  GapRecord,
  JsonMembers,
  MessageRecord,
  MetaRecord,
  NoiseRecord,
  Part,
  StderrRecord,
  TapeRecord,
} from '../../model/index.js'

export interface EncodeOptions {
  /** Only the line types and members that the published format has. @default false */
  readonly strict?: boolean
}

/** One line of a tape with its line feed, or '' for a record that the strict form has no place for. */
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

function encodeMeta(meta: MetaRecord, strict: boolean): string {
  let line = `{"v":1,"type":"meta","startedAt":${text(meta.startedAt)},"label":${text(meta.label)}`
  line += `,"command":${JSON.stringify(meta.command)}`
  if (meta.mcpTapVersion !== undefined) line += `,"mcpTapVersion":${text(meta.mcpTapVersion)}`
  const own = meta.wiretape
  if (own && !strict) {
    line += `,"wiretape":{"version":${text(own.version)},"session":${text(own.session)}`
    line += `,"transport":${text(own.transport)},"url":${JSON.stringify(own.url)},"segment":${own.segment}`
    line += `,"redaction":${text(own.redaction)},"metadata":{${members(own.metadata)}}${more(own.extra)}}`
  }
  return `${line}${strict ? '' : more(meta.extra)}}\n`
}

function encodeMessage(record: MessageRecord, strict: boolean): string {
  const line = `{"t":${text(record.t)},"dir":"${dirOf(record)}","raw":${record.raw}`
  if (strict) return `${line}}\n`
  let own = ''
  if (record.batch) {
    const { id } = record.parts[0] ?? {}
    if (id !== undefined) own += `,"id":${text(id)}`
  } else {
    own += notesOf(record.parts[0]!, ',')
  }
  if (record.seq !== undefined) own += `,"seq":${record.seq}`
  if (record.us !== undefined) own += `,"us":${record.us}`
  if (record.conversation !== undefined) own += `,"conv":${text(record.conversation)}`
  if (record.batch && record.parts.some((part) => part.id !== undefined)) {
    own += `,"batch":[${record.parts.map((part) => `{${notesOf(part, '')}}`).join(',')}]`
  }
  return `${line}${own}${frameOf(record)}${more(record.extra)}}\n`
}

/** What is known about one message beside its text. */
function notesOf(part: Part, separator: string): string {
  const notes: string[] = []
  if (part.id !== undefined) notes.push(`"id":${text(part.id)}`)
  if (part.correlatedId !== undefined) notes.push(`"corr":${text(part.correlatedId)}`)
  if (part.late) notes.push('"late":true')
  if (part.duplicateOf !== undefined) notes.push(`"dup":${text(part.duplicateOf)}`)
  if (part.links) notes.push(`"linked":${JSON.stringify(part.links)}`)
  return notes.length === 0 ? '' : separator + notes.join(',')
}

function encodeEnd(end: EndRecord, strict: boolean): string {
  let line = `{"t":${text(end.t)},"type":"end","exitCode":${end.exitCode},"durationMs":${end.durationMs}`
  const own = end.wiretape
  if (own && !strict) {
    line += `,"wiretape":{"messages":${own.messages}`
    if (own.rotated) line += ',"rotated":true'
    if (own.signal !== undefined) line += `,"signal":${text(own.signal)}`
    if (own.error !== undefined) line += `,"error":${text(own.error)}`
    if (own.recovered) line += ',"recovered":true'
    line += `${more(own.extra)}}`
  }
  return `${line}${strict ? '' : more(end.extra)}}\n`
}

type Other = Exclude<TapeRecord, { type: 'meta' | 'message' | 'end' }>

function encodeOther(record: Other): string {
  if (record.type === 'unknown') return `${record.text}\n`
  let line = `{"type":"${record.type}","t":${text(record.t)}`
  if (record.us !== undefined) line += `,"us":${record.us}`
  switch (record.type) {
    case 'noise':
      line += `,"dir":"${dirOf(record)}","text":${text(record.text)}${frameOf(record)}`
      break
    case 'stderr':
      line += `,"text":${text(record.text)}${frameOf(record)}`
      break
    case 'gap':
      line += gapMembers(record)
      break
    case 'undelivered':
      line += `,"id":${text(record.id)},"why":${text(record.why)}`
      break
  }
  return `${line}${more(record.extra)}}\n`
}

function gapMembers(gap: GapRecord): string {
  let line = `,"lost":${gap.lost}`
  if (gap.lostStderr !== undefined) line += `,"stderr":${gap.lostStderr}`
  if (gap.lostBytes !== undefined) line += `,"bytes":${gap.lostBytes}`
  if (gap.direction) line += `,"dir":"${gap.direction === 'client_to_server' ? 'in' : 'out'}"`
  if (gap.sha256 !== undefined) line += `,"sha256":${text(gap.sha256)}`
  return `${line},"why":${text(gap.why)}`
}

function frameOf(record: MessageRecord | NoiseRecord | StderrRecord): string {
  let line = ''
  if (record.frameEnd) line += `,"eol":"${record.frameEnd}"`
  if (record.bytes !== undefined) line += `,"bytes":"${record.bytes}"`
  return line
}

function dirOf(record: MessageRecord | NoiseRecord): 'in' | 'out' {
  return record.direction === 'client_to_server' ? 'in' : 'out'
}

function text(value: string): string {
  return JSON.stringify(value)
}

function members(list: JsonMembers): string {
  return list.map(([name, value]) => `${text(name)}:${value}`).join(',')
}

function more(extra: JsonMembers | undefined): string {
  return extra && extra.length > 0 ? `,${members(extra)}` : ''
}
