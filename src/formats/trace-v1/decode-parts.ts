import type { Envelope, Link, LinkKind, Part, Draft } from '../../model/index.js'
import { envelopeOf, JsonObject, partsOf, readEnvelope, type Span } from '../../wire/index.js'
import { LineMembers } from './line-members.js'

/** The messages in a line's `raw`, with the line's data about each. */
export function decodeParts(line: LineMembers, raw: string): { batch: boolean; parts: Part[] } {
  // Read from the line itself: the engine reads slices of strings more slowly.
  const at = line.object.at('raw')!
  if (at.members) {
    return { batch: false, parts: [decodePart(line, envelopeOf(at.text, at.members), 0, raw.length)] }
  }
  const { batch, parts } = partsOf(raw)
  if (!batch) return { batch, parts: [decodePart(line, readEnvelope(at.text, at.start), 0, raw.length)] }
  return { batch, parts: decodeBatch(line, at, parts) }
}

/** The array `batch` holds the data of each message, in the same order. */
function decodeBatch(line: LineMembers, at: { text: string; start: number }, spans: readonly Span[]): Part[] {
  const objects = line.object.objects('batch', spans.length + 1)
  const notes = objects.map((object) => object && new LineMembers(object))
  const parts = spans.map(({ start, end }, i) =>
    decodePart(notes[i], readEnvelope(at.text, at.start + start), start, end),
  )
  const understood = notes.every((note) => note && note.rest().extra === undefined)
  if (understood && notes.length === parts.length && parts.some((part) => part.id !== undefined)) {
    line.use('batch')
    if (parts[0]!.id === line.object.string('id')) line.use('id')
  }
  return parts
}

function decodePart(note: LineMembers | undefined, envelope: Envelope, start: number, end: number): Part {
  if (!note) return { envelope, start, end }
  const id = note.string('id')
  const correlatedId = note.string('corr')
  const late = note.isTrue('late')
  const duplicateOf = note.string('dup')
  const links = decodeLinks(note)
  // Member by member, for speed, as for the record.
  const part: Draft<Part> = { envelope, start, end }
  if (id !== undefined) part.id = id
  if (correlatedId !== undefined) part.correlatedId = correlatedId
  if (late) part.late = true
  if (duplicateOf !== undefined) part.duplicateOf = duplicateOf
  if (links.length > 0) part.links = links
  if (note.ascii) part.sizeBytes = end - start
  return part
}

const linkKinds = ['progress', 'cancel', 'task', 'round', 'subscription'] as const satisfies LinkKind[]

/** The links of known kinds. If there are others, the member is also kept as it is. */
function decodeLinks(note: LineMembers): Link[] {
  if (!note.object.has('linked')) return []
  const objects = note.object.objects('linked')
  if (objects.length === 0) return []
  const links = objects.map((object) => object && decodeLink(object))
  const known = links.filter((link) => link !== undefined)
  const exact = objects.every((object) => object && object.others(['kind', 'to']).length === 0)
  if (exact && known.length === objects.length) note.use('linked')
  return known
}

function decodeLink(object: JsonObject): Link | undefined {
  const members = new LineMembers(object)
  const kind = members.oneOf('kind', linkKinds)
  const to = members.string('to')
  return kind !== undefined && to !== undefined ? { kind, to } : undefined
}
