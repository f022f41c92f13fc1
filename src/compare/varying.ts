import { decodeString, kindAt } from '../wire/index.js'
import { areMadeIds, areMadeNames, createLinks, endsInIdName, isIdName, type Links } from './made-ids.js'
import { movedWithClock, readMoment } from './moments.js'
import { readDuration, volatilePieces, type Piece, type VolatileForm } from './volatile-forms.js'

/** Client's use of a response's value: `said` before it, `gives back` after it, `unknown` in a running session. */
export type Use = 'said' | 'gives back' | 'unknown' | undefined

/** State of one run at a compared response. */
export interface RunSide {
  /** Time of the response, since 1970; absent if the recording has no times. */
  readonly atMs?: number | undefined
  /** Since the session began. */
  readonly ageMs?: number | undefined
  /** Since the request. */
  readonly latencyMs?: number | undefined
  uses(value: string): Use
}

/** Kinds of generated values that differed without counting; `replay --learn` detected the `learned` ones. */
export type VariedKind = VolatileForm | 'handle' | 'measurement' | 'learned'

/** Kinds of generated values by which two scalars, as JSON texts, differ; undefined for a real difference. */
export type VariedBetween = (
  names: readonly string[],
  before: string,
  after: string,
) => readonly VariedKind[] | undefined

/** Tracks corresponding values over all responses of a comparison. */
export interface Varying {
  between(before: RunSide, after: RunSide): VariedBetween
  readonly links: Links
}

export function createVarying(): Varying {
  const links = createLinks()
  return {
    links,
    between: (before, after) => (names, beforeText, afterText) => {
      const judged: Judged = { before, after, names, links, found: [], added: [] }
      const [kind, other] = [kindAt(beforeText, 0), kindAt(afterText, 0)]
      if (kind !== other) return undefined
      const isFine =
        kind === 'number'
          ? numbers(judged, beforeText, afterText)
          : kind === 'string' &&
            strings(
              judged,
              decodeString(beforeText, 0, beforeText.length),
              decodeString(afterText, 0, afterText.length),
            )
      if (!isFine) return undefined
      for (const [old, now] of judged.added) links.add(old, now)
      return [...new Set(judged.found)]
    },
  }
}

interface Judged {
  readonly before: RunSide
  readonly after: RunSide
  /** Names of the members that lead to the value. */
  readonly names: readonly string[]
  readonly links: Links
  readonly found: VariedKind[]
  /** Links to keep if the whole value matches. */
  readonly added: (readonly [before: string, after: string])[]
}

/** Links two values, unless they contradict a known link or the client chose one of them. */
function link(
  { before, after, links, added, found }: Judged,
  kind: VariedKind,
  old: string,
  now: string,
  key = '',
): boolean {
  const [from, to] = [key + old, key + now]
  if (!links.fits(from, to) || added.some(([a, b]) => (a === from) !== (b === to))) return false
  if (!links.isKnown(from, to) && (before.uses(old) === 'said' || after.uses(now) === 'said')) return false
  added.push([from, to])
  found.push(kind)
  return true
}

function isGivenBack({ before, after }: Judged, old: string, now: string): boolean {
  const [then, use] = [before.uses(old), after.uses(now)]
  return then === 'gives back' && (use === 'gives back' || use === 'unknown')
}

const processIdName = /^p?pid$|process_?id$/i
const portName = /port$/i
const lastingName =
  /duration|elapsed|\btook\b|latency|uptime|runtime|(?:execution|response|processing|query|running|wall|run|real|user|sys)_?time|time_?taken|(?:_|[a-z])(?:ms|millis|milliseconds)$|Ms$|^ms$/i
const measuredName =
  /^(?:rss|heap\w*|external|arrayBuffers|free\w*|used\w*|available\w*|loadavg|load\w*|usage\w*|percent\w*|user|system|idle)$/i
const machineName = /memory|mem$|cpu|load|heap|^rss$|arrayBuffers|disk/i

function numbers(judged: Judged, old: string, now: string): boolean {
  const { names, before, after, found } = judged
  const name = names.at(-1) ?? ''
  const [a, b] = [Number(old), Number(now)]
  if (processIdName.test(name)) return link(judged, 'process id', old, now, 'pid ')
  if (portName.test(name)) return areEphemeral(a, b) && link(judged, 'port', old, now, 'port ')
  if (isIdName(name) && (isGivenBack(judged, old, now) || judged.links.isKnown(`id ${old}`, `id ${now}`)))
    return numberLink(judged, old, now)
  const isMoment = timesMoved(judged, old, now) || hasAged(judged, a, b)
  if (isMoment) found.push('timestamp')
  else if (lastingName.test(name) && isMeasured(before, a, true) && isMeasured(after, b, true))
    found.push('duration')
  else if (name === 'total' && names.some((each) => /cpu/i.test(each))) found.push('measurement')
  else if (measuredName.test(name) && names.some((each) => machineName.test(each))) found.push('measurement')
  else return false
  return true
}

/** Small numbers repeat: the same one may identify things of every kind. The last response with it counts. */
function numberLink({ added, found }: Judged, old: string, now: string): boolean {
  added.push([`id ${old}`, `id ${now}`])
  return found.push('handle') > 0
}

/** Whether two values differ by the time between the runs, such as the uptime of a machine. */
function hasAged({ names, before, after }: Judged, old: number, now: number): boolean {
  if (
    before.atMs === undefined ||
    after.atMs === undefined ||
    !names.slice(-2).some((name) => lastingName.test(name))
  )
    return false
  const [apart, seconds] = [now - old, (after.atMs - before.atMs) / 1_000]
  return [1, 1_000].some((perSecond) => Math.abs(apart / perSecond - seconds) <= 5 + Math.abs(seconds) / 100)
}

function timesMoved({ before, after }: Judged, old: string, now: string): boolean {
  const [a, b] = [readMoment(old), readMoment(now)]
  return (
    a !== undefined && b !== undefined && movedWithClock(a, b, { beforeMs: before.atMs, afterMs: after.atMs })
  )
}

function areEphemeral(old: number, now: number): boolean {
  return Math.min(old, now) >= 32_768 && Math.max(old, now) <= 65_535
}

/** @param isTold whether the text describes the duration of something finished */
function isMeasured({ latencyMs, ageMs }: RunSide, ms: number, isTold: boolean): boolean {
  if (latencyMs !== undefined && ms <= latencyMs * 1.2 + 25) return true
  return isTold && (ageMs === undefined || ms <= ageMs * 1.1 + 1_000)
}

function strings(judged: Judged, old: string, now: string): boolean {
  const { names } = judged
  const name = names.at(-1) ?? ''
  if (judged.links.isKnown(old, now)) return link(judged, 'handle', old, now)
  const isHandle = isIdName(name) || areMadeIds(old, now, false)
  if (isHandle && isGivenBack(judged, old, now)) return link(judged, 'handle', old, now)
  return byPieces(judged, old, now, name) || again(judged, () => byWords(judged, old, now, name))
}

/** Discards the results of a failed attempt, then tries again. */
function again(judged: Judged, go: () => boolean): boolean {
  judged.found.length = 0
  judged.added.length = 0
  return go()
}

function byPieces(judged: Judged, old: string, now: string, name: string): boolean {
  const [a, b] = [volatilePieces(old), volatilePieces(now)]
  if (a.length !== b.length || a.length === 1) return false
  return a.every((piece, i) => {
    const other = b[i]!
    if (piece.text === other.text) return true
    if (piece.form !== other.form) return false
    if (piece.form === undefined) return byWords(judged, piece.text, other.text, name)
    return isVolatile(judged, old, now, piece, other)
  })
}

const lasting =
  /(?:uptime|elapsed|took|duration|latency|runtime|running|since|idle|age|executed|finished|completed|started)\W*(?:in |for |time|:|=)*\W*$/i
const machine = /(?:memory|mem|heap|rss|cpu|load|disk)\b[^\n]*$/i
const repository = /commit|revision|\bgit\b|\bHEAD\b|\bbranch|\bref\b|\bsha\b/i

function isVolatile(judged: Judged, old: string, now: string, piece: Piece, other: Piece): boolean {
  const { before, after, found, names } = judged
  const [lead, otherLead] = [
    old.slice(Math.max(0, piece.start - 60), piece.start),
    now.slice(Math.max(0, other.start - 60), other.start),
  ]
  const name = names.at(-1) ?? ''
  const isA = (test: RegExp): boolean => test.test(lead) && test.test(otherLead)
  switch (piece.form) {
    case 'timestamp':
      if (timesMoved(judged, piece.text, other.text)) return found.push('timestamp') > 0
      // `00:00:05` may be a duration, `1763890000` an id.
      return isGivenBack(judged, piece.text, other.text) && link(judged, 'handle', piece.text, other.text)
    case 'duration': {
      const isTold = isA(lasting) || lastingName.test(name) || [old, now].every((text) => / ago\b/.test(text))
      const fits =
        isMeasured(before, readDuration(piece.text), isTold) &&
        isMeasured(after, readDuration(other.text), isTold)
      return fits && found.push('duration') > 0
    }
    case 'size':
      return (isA(machine) || machineName.test(name)) && found.push('measurement') > 0
    case 'port':
      return (
        areEphemeral(Number(piece.text), Number(other.text)) &&
        link(judged, 'port', piece.text, other.text, 'port ')
      )
    case 'process id':
      return link(judged, 'process id', piece.text, other.text, 'pid ')
    case 'commit': {
      const isOfRepository =
        repository.test(old) || names.some((each) => repository.test(each) || /hash$/i.test(each))
      if (piece.text.length !== other.text.length) return false
      const [from, to] = [piece.text.slice(0, 7), other.text.slice(0, 7)]
      // A client that sends it back sends the full hash.
      if (piece.text.length > 7 && (isOfRepository || judged.links.isKnown(from, to)))
        judged.added.push([piece.text, other.text])
      if (isOfRepository || judged.links.isKnown(from, to)) return link(judged, 'commit', from, to)
      return isMadeWord(judged, piece.text, other.text, lead, name)
    }
    case 'path':
      return paths(judged, piece.text, other.text)
    default:
      return link(judged, piece.form ?? 'id', piece.text, other.text)
  }
}

function paths(judged: Judged, old: string, now: string): boolean {
  const [a, b] = [old.split(/[/\\]/), now.split(/[/\\]/)]
  if (a.length !== b.length) return false
  return a.every((segment, i) => {
    const other = b[i]!
    if (segment === other) return true
    return areMadeNames(segment, other) && link(judged, 'path', segment, other)
  })
}

const between = /([\s"'`()<>[\]{},;|*=:#]+)/

/** The differing words are ids; the rest is equal except for the amount of white space. */
function byWords(judged: Judged, old: string, now: string, name: string): boolean {
  const [a, b] = [old.split(between), now.split(between)]
  if (a.length !== b.length) return false
  let lead = ''
  return a.every((word, i) => {
    const other = b[i]!
    const isFine =
      i % 2 === 1
        ? word.replaceAll(/[ \t]+/g, ' ') === other.replaceAll(/[ \t]+/g, ' ')
        : word === other ||
          isMadeWord(
            judged,
            word.replace(/[.!?]+$/, ''),
            other.replace(/[.!?]+$/, ''),
            lead,
            a.length === 1 ? name : '',
          )
    lead = (lead + word).slice(-60)
    return isFine
  })
}

function isMadeWord(judged: Judged, old: string, now: string, lead: string, name: string): boolean {
  const isNamed = endsInIdName(lead) || isIdName(name)
  if (judged.links.isKnown(old, now)) return link(judged, 'handle', old, now)
  if (/^\d+$/.test(old) && /^\d+$/.test(now)) {
    const isKnown = judged.links.isKnown(`id ${old}`, `id ${now}`)
    return isNamed && (isKnown || isGivenBack(judged, old, now)) && numberLink(judged, old, now)
  }
  if (areMadeIds(old, now, isNamed)) return link(judged, 'id', old, now)
  return isNamed && isGivenBack(judged, old, now) && link(judged, 'handle', old, now)
}
