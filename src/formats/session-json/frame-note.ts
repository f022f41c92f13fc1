import type { JsonMembers, MessageRecord, Part } from '../../model/index.js'
import { JsonObject } from '../../wire/index.js'
import { encodeRecord } from '../trace-v1/index.js'
import { inReach } from './demanding.js'
import { keepsOriginal } from './entry.js'
import { differing, keptName } from './kept.js'
import { Members, objectText } from './members.js'
import { parseMicros, tapeTime } from './time.js'

/** An entry of `messages` and its source message. */
export interface PlacedEntry {
  readonly part: Part
  /** The members that wiretape writes. */
  readonly ours: Members
  /** The members in the file: the same, with those that a session file had in another form. */
  readonly inFile: Members
}

/** Members that a reader derives from an entry alone. */
const derivedNames = ['id', 'seq', 'us', 'corr', 'modified', 'original']
/** Members that lines of a nameless recording lack: `metadata.wiretape.without`. */
export const namelessWithout: readonly string[] = ['id', 'seq', 'us', 'corr']

/**
 * The data on a tape about a message, or a batch, that is missing from its entries: an element of
 * `metadata.wiretape.lines`. Undefined when the entries are complete.
 *
 * @param at number of the first entry in `messages`
 * @param own a wiretape tape: reading must not add members that its line lacks
 * @param usual members that lines lack by default
 */
export function frameNote(
  record: MessageRecord,
  placed: readonly PlacedEntry[],
  place: {
    readonly at: number
    readonly startMicros: number
    readonly own: boolean
    readonly usual: readonly string[]
  },
): string | undefined {
  const line = new JsonObject(encodeRecord(record).trimEnd(), 0)
  const derived = derivedFrom(record, placed, place.startMicros)
  const extra = new Set(record.extra?.map(([name]) => name))
  const kept = record.extra?.at(-1)
  if (kept && isDerivedKept(record, kept, placed)) extra.delete(keptName)
  const said = [keptName, ...derived.keys()].filter(
    (name) => !extra.has(name) && (name === keptName || derived.get(name) === line.raw(name)),
  )
  const rest = line.others(['dir', 'raw', ...said])
  const without = place.own ? derivedNames.filter((name) => derived.has(name) && !line.has(name)) : []
  const usually = derivedNames.filter((name) => derived.has(name) && place.usual.includes(name))
  if (rest.length === 0 && String(without) === String(usually) && !record.batch) return undefined
  const note = new Members().add('at', place.at).add('id', placed[0]!.inFile.get('proxy_id'))
  if (record.batch) note.add('between', JSON.stringify(between(record.raw, placed)))
  if (without.length > 0) note.add('without', JSON.stringify(without))
  return String(note.add('line', inReach(objectText(rest))))
}

/** The members of a tape's line that `deriveLine` derives from these entries. */
function derivedFrom(
  record: MessageRecord,
  placed: readonly PlacedEntry[],
  startMicros: number,
): ReadonlyMap<string, string> {
  const { inFile, part } = placed[0]!
  return new Map(
    deriveLine({
      micros: parseMicros(JSON.parse(inFile.get('timestamp')!) as string)!,
      startMicros,
      sequence: String(Number(inFile.get('sequence')!) - record.parts.indexOf(part)),
      modified: inFile.get('modified') === 'true',
      ...(!record.batch && {
        proxyId: inFile.get('proxy_id')!,
        correlatedId: inFile.get('correlated_id')!,
        original: keepsOriginal(record) ? record.original : undefined,
      }),
    }),
  )
}

/** Data of entries for a line of a tape; all texts are JSON. For a batch, its first entry without ids. */
export interface Sayings {
  readonly micros: number
  readonly startMicros: number
  readonly sequence: string
  readonly modified: boolean
  readonly proxyId?: string
  readonly correlatedId?: string
  readonly original?: string | undefined
}

/** The members of a tape's line except `dir` and `raw`. */
export function deriveLine(said: Sayings): JsonMembers {
  const line = new Members()
    .text('t', tapeTime(said.micros))
    .add('id', said.proxyId)
    .add('seq', said.sequence)
    .add('us', Math.max(0, said.micros - said.startMicros))
  if (said.correlatedId?.startsWith('"')) line.add('corr', said.correlatedId)
  if (said.modified) line.add('modified', 'true').add('original', said.original)
  return [...line]
}

/** Whether a reader can derive the session file data that the record keeps. */
function isDerivedKept(
  record: MessageRecord,
  [name, json]: readonly [string, string],
  placed: readonly PlacedEntry[],
): boolean {
  if (name !== keptName || record.extra!.filter((member) => member[0] === keptName).length > 1) return false
  const texts = placed.map(({ ours, inFile }) => objectText(differing(inFile, ours)))
  if (texts.every((text) => text === '{}')) return false
  return json === (record.batch ? `[${texts.join(',')}]` : texts[0])
}

/** The text of a batch before, between and after its entries: brackets, commas, other elements. */
function between(raw: string, placed: readonly PlacedEntry[]): string[] {
  const texts: string[] = []
  let from = 0
  for (const { part } of placed) {
    texts.push(raw.slice(from, part.start))
    from = part.end
  }
  return [...texts, raw.slice(from)]
}
