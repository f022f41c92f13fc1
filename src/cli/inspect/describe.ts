import type { Envelope, Link } from '../../model/index.js'
import { countOf, escapeText, formatDuration } from '../../render/index.js'
import type { Fact, InspectRow } from './rows.js'

/** A name of a style. */
export type Tone = 'plain' | 'dim' | 'red' | 'yellow'

/** Something to say about a row; escaped. */
export interface Note {
  readonly text: string
  readonly tone: Tone
}

/** Characters of a text that a peer chose, at most. */
export const longestName = 200

/** What the row is about, as a person would say it; escaped, and of bounded length. */
export function describe(row: InspectRow): Note {
  const { record, part } = row
  switch (record.type) {
    case 'message':
    case 'held':
      return describeMessage(row, part!.envelope)
    case 'noise':
      return { text: `not JSON: "${escapeText(shortened(record.text))}"`, tone: 'yellow' }
    case 'stderr':
      return { text: escapeText(shortened(record.text)), tone: 'dim' }
    case 'http': {
      // Transcripts say neither.
      const of = record.path === '' ? '' : ` of ${named(record.method, record.path)}`
      if (record.sse) {
        const within = record.status === undefined ? of : ` in ${record.status}${of}`
        return { text: `${named(record.sse.event ?? 'event', record.sse.id)}${within}`, tone: 'dim' }
      }
      if (record.status === undefined) return { text: `no response${of}`, tone: 'red' }
      return { text: `${record.status}${of}`, tone: record.status >= 400 ? 'yellow' : 'dim' }
    }
    case 'gap':
      return { text: `gap: ${lostOf(record.lost, record.lostStderr)} not recorded`, tone: 'red' }
    default:
      return { text: '', tone: 'plain' }
  }
}

function lostOf(messages: number, stderrLines: number | undefined): string {
  const lost = messages > 0 || stderrLines === undefined ? [countOf(messages, 'message')] : []
  if (stderrLines !== undefined) lost.push(countOf(stderrLines, 'stderr line'))
  return lost.join(' and ')
}

function describeMessage(row: InspectRow, envelope: Envelope): Note {
  const { kind } = envelope
  if (kind === 'request' || kind === 'notification')
    return { text: named(envelope.method ?? '', envelope.subject), tone: 'plain' }
  if (kind === 'invalid')
    return { text: `not JSON-RPC: ${escapeText(envelope.problem ?? '')}`, tone: 'yellow' }
  const { answers, request } = row
  const failed = kind === 'error' || row.facts.has('tool-error')
  const of = answers === undefined ? '' : ` of #${answers}`
  const name = request ? ` ${named(request.method, request.subject)}` : ''
  return { text: `${kind}${of}${name}`, tone: failed ? 'red' : 'dim' }
}

function named(method: string, subject: string | undefined): string {
  const short = escapeText(shortened(method))
  return subject === undefined ? short : `${short} ${escapeText(shortened(subject))}`
}

function shortened(text: string): string {
  return text.length <= longestName ? text : `${text.slice(0, longestName)}…`
}

const factNotes: Readonly<Record<Fact, Note>> = {
  unanswered: { text: 'unanswered', tone: 'yellow' },
  late: { text: 'late, answered before', tone: 'yellow' },
  orphan: { text: 'answers no request on this recording', tone: 'yellow' },
  duplicate: { text: 'id in use twice', tone: 'yellow' },
  'tool-error': { text: 'tool error', tone: 'red' },
  cancelled: { text: 'cancelled', tone: 'dim' },
  undelivered: { text: 'not delivered', tone: 'yellow' },
  batch: { text: 'batch', tone: 'dim' },
  waiting: { text: 'held, never passed on', tone: 'yellow' },
  'held-now': { text: 'held', tone: 'yellow' },
  dropped: { text: 'dropped', tone: 'yellow' },
  'answered-here': { text: 'answered by wiretape', tone: 'yellow' },
  modified: { text: 'modified', tone: 'yellow' },
  injected: { text: 'sent by wiretape', tone: 'yellow' },
}

/** What is special about the row, most important first; escaped. */
export function notesOf(row: InspectRow): Note[] {
  const notes: Note[] = []
  const envelope = row.part?.envelope
  for (const fact of row.facts)
    if (fact !== 'dropped' || !row.facts.has('answered-here')) notes.push(factNotes[fact])
  if (row.heldMs !== undefined && row.heldMs > 0)
    notes.push({ text: `held ${formatDuration(row.heldMs * 1000)}`, tone: 'dim' })
  const { record } = row
  if ((record.type === 'message' || record.type === 'held') && record.rule !== undefined)
    notes.push({ text: `rule ${escapeText(shortened(record.rule))}`, tone: 'dim' })
  if (envelope?.kind === 'error') {
    const message = escapeText(shortened(envelope.errorMessage ?? ''))
    const code = escapeText(shortened(envelope.errorCode ?? ''))
    notes.push({ text: `${code} ${message}`.trim(), tone: 'red' })
  }
  const { resultType } = envelope ?? {}
  if (resultType !== undefined && resultType !== 'complete')
    notes.push({ text: escapeText(shortened(resultType)), tone: 'plain' })
  if (row.answeredIn !== undefined) notes.push({ text: `answered in #${row.answeredIn}`, tone: 'dim' })
  row.part?.links?.forEach(({ kind }, i) => notes.push({ text: linkWords(kind, row.linked[i]), tone: 'dim' }))
  const why = row.record.type === 'gap' || row.record.type === 'http' ? row.record.why : undefined
  if (why !== undefined) notes.push({ text: escapeText(shortened(why)), tone: 'red' })
  return notes
}

function linkWords(kind: Link['kind'], seq: number | undefined): string {
  const request = seq === undefined ? 'a request' : `#${seq}`
  switch (kind) {
    case 'progress':
      return `for ${request}`
    case 'cancel':
      return `cancels ${request}`
    case 'task':
      return `task of ${request}`
    case 'round':
      return `goes on with ${request}`
    case 'subscription':
      return `subscription of ${request}`
  }
}
