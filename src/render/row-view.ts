import {
  isFrameRecord,
  isLoneRecord,
  whoInjected,
  type EntryKind,
  type Fact,
  type Link,
  type Part,
  type TapeRecord,
} from '../model/index.js'
import { escapeText } from './escape.js'
import { countOf } from './units.js'

/** A row of a recording. Notes of people are rows only in lists that show them separately. */
export type RowKind = EntryKind | 'note'

/** A name of a style. */
export type RowTone = 'plain' | 'dim' | 'red' | 'yellow'

/** Maximum characters of a text chosen by a peer. */
export const longestName = 200

/** The source of a row's words: texts of peers as received, not escaped. */
export interface RowMatter {
  readonly kind: RowKind
  /** Method of a request or notification; for HTTP without a message, the HTTP method. */
  readonly method: string
  /** The tool, prompt or other subject; for HTTP without a message, the path. */
  readonly subject: string
  /** The row's own text: an error's code and message, a line, a status, the size of a gap. */
  readonly said: string
  /** The reason for a gap or an early end. */
  readonly why: string
}

/** Method and subject of a request, for its response. */
export interface AskedMatter {
  readonly method: string
  readonly subject?: string
}

/** The words of a row; escaped and of bounded length. */
export interface RowView {
  /** Kind, where the method does not show it: `result`, `404`, `not JSON`. */
  readonly kind: string
  /** Method, or '' if it belongs to none. */
  readonly name: string
  readonly subject: string
  readonly said: string
  readonly why: string
  readonly tone: RowTone
}

/** The facts of a record that its row shows. @param part of a message */
export function rowMatter(record: TapeRecord, part: Part | undefined, kind: EntryKind): RowMatter {
  if (isFrameRecord(record)) return messageMatter(part, kind)
  if (record.type !== 'note' && !isLoneRecord(record)) return { ...nothing, kind }
  switch (record.type) {
    case 'noise':
    case 'stderr':
      return { ...nothing, kind: record.type, said: record.text }
    case 'note':
      return { ...nothing, kind: 'note', said: record.text }
    case 'http': {
      const { method, path, status, sse, why = '' } = record
      const event = sse && [sse.event ?? 'event', sse.id].filter((text) => text !== undefined).join(' ')
      // A response of our own listener is no failure of the server.
      const ours = /, answered (\d+) by wiretape$/.exec(why)?.[1]
      const plain =
        status === undefined ? (ours === undefined ? 'no response' : `${ours} by wiretape`) : `${status}`
      const within = status === undefined ? '' : ` in ${status}`
      return {
        kind: 'http',
        method,
        subject: path,
        said: event === undefined ? plain : `${event}${within}`,
        why,
      }
    }
    case 'gap':
      return { ...nothing, kind: 'gap', said: lostOf(record.lost, record.lostStderr), why: record.why }
  }
}

const nothing = { method: '', subject: '', said: '', why: '' }

function messageMatter(part: Part | undefined, kind: EntryKind): RowMatter {
  const {
    method = '',
    subject = '',
    errorCode = '',
    errorMessage = '',
    problem = '',
    resultType,
  } = part?.envelope ?? { kind }
  const more = resultType === undefined || resultType === 'complete' ? '' : resultType
  const said = kind === 'error' ? `${errorCode} ${errorMessage}`.trim() : kind === 'invalid' ? problem : more
  return { kind, method, subject, said, why: '' }
}

function lostOf(messages: number, stderrLines: number | undefined): string {
  const lost = messages > 0 || stderrLines === undefined ? [countOf(messages, 'message')] : []
  if (stderrLines !== undefined) lost.push(countOf(stderrLines, 'stderr line'))
  return `${lost.join(' and ')} not recorded`
}

/**
 * The words of a row.
 *
 * @param asked for a response, its request
 * @param failed a result that reports a tool error
 */
export function rowView(matter: RowMatter, asked?: AskedMatter, failed = false): RowView {
  const { kind, method, subject } = matter
  const view = (name: string, about: string, word: string, tone: RowTone): RowView => ({
    kind: word,
    name: shortened(name),
    subject: shortened(about),
    said: shortened(matter.said),
    why: shortened(matter.why),
    tone,
  })
  switch (kind) {
    case 'request':
    case 'notification':
      return view(method, subject, '', 'plain')
    case 'result':
      return view(asked?.method ?? '', asked?.subject ?? '', 'result', failed ? 'red' : 'dim')
    case 'error':
      return view(asked?.method ?? '', asked?.subject ?? '', 'error', 'red')
    case 'invalid':
      return view('', '', 'not JSON-RPC', 'yellow')
    case 'noise':
      return view('', '', 'not JSON', 'yellow')
    case 'stderr':
      return view('', '', 'stderr', 'dim')
    case 'note':
      return view('', '', 'note', 'plain')
    case 'gap':
      return view('', '', 'gap', 'red')
    case 'http': {
      const status = Number(/^\d{3}(?= by wiretape$|$)/.exec(matter.said)?.[0] ?? 0)
      const tone = matter.said === 'no response' ? 'red' : status >= 400 ? 'yellow' : 'dim'
      return view(method, subject, shortened(matter.said), tone)
    }
  }
}

/**
 * The words in one line, for text lists: `tools/call search`, `result of #3 tools/call search`, `gap: 2
 * messages not recorded`.
 *
 * @param number for a response, the number of its request
 */
export function rowLine({ kind, name, subject, said }: RowView, of: RowKind, number?: number): string {
  switch (of) {
    case 'request':
    case 'notification':
      return joined(name, subject)
    case 'result':
    case 'error': {
      const hash = number === undefined ? '' : `#${number}`
      return hash === '' && name === '' ? kind : joined(kind, 'of', hash, name, subject)
    }
    case 'http':
      // Transcripts contain neither method nor path.
      return subject === '' ? kind : joined(kind, 'of', name, subject)
    case 'stderr':
      return said
    case 'noise':
      return `${kind}: "${said}"`
    case 'invalid':
    case 'gap':
    case 'note':
      return `${kind}: ${said}`
  }
}

function joined(...words: readonly string[]): string {
  return words.filter((word) => word !== '').join(' ')
}

function shortened(text: string): string {
  return escapeText(text.length <= longestName ? text : `${text.slice(0, longestName)}…`)
}

/** The words for each fact. */
export const factWords: Readonly<Record<Fact, { readonly text: string; readonly tone: RowTone }>> = {
  unanswered: { text: 'unanswered', tone: 'yellow' },
  late: { text: 'late: already answered', tone: 'yellow' },
  orphan: { text: 'unmatched: no request in this recording', tone: 'yellow' },
  duplicate: { text: 'duplicate id', tone: 'yellow' },
  'tool-error': { text: 'tool error', tone: 'red' },
  'task-open': { text: 'task not ended', tone: 'yellow' },
  'task-failed': { text: 'task failed', tone: 'red' },
  'task-cancelled': { text: 'task cancelled', tone: 'dim' },
  cancelled: { text: 'cancelled', tone: 'dim' },
  undelivered: { text: 'not delivered', tone: 'yellow' },
  batch: { text: 'batch', tone: 'dim' },
  waiting: { text: 'held, never forwarded', tone: 'yellow' },
  'held-now': { text: 'held', tone: 'yellow' },
  dropped: { text: 'dropped', tone: 'yellow' },
  'answered-here': { text: 'answered by wiretape', tone: 'yellow' },
  own: { text: 'wiretape only', tone: 'dim' },
  modified: { text: 'modified', tone: 'yellow' },
  injected: { text: 'sent by wiretape', tone: 'yellow' },
}

/** The words where the other side got nothing because wiretape sent the request itself. */
export const ownAnswerWords = {
  /** The status of the request. */
  request: 'ok',
  /** The status of its response and progress. */
  message: factWords.own.text,
  why: 'received only by wiretape, which sent the request',
} as const

/** The creator or editor of a message, if not the peer; else ''. Escaped. */
export function authorWords(record: TapeRecord, part: Part | undefined): string {
  if (record.type !== 'message' || !(record.injected || record.modified)) return ''
  const { rule } = record
  const { kind, errorMessage } = part?.envelope ?? { kind: 'invalid' }
  const who = whoInjected(kind, rule, errorMessage)
  if (who === 'rule') return `rule ${shortened(rule ?? '')}`
  return who === 'person' ? 'a person' : who
}

/** The facts that lists show: an answered request is not shown as dropped too, nor a message for wiretape itself. */
export function toldFacts(facts: ReadonlySet<Fact>): readonly Fact[] {
  const isDropped = !facts.has('answered-here') && !facts.has('own')
  return [...facts].filter((fact) => fact !== 'dropped' || isDropped)
}

/** The words for a link. @param request the linked request, in words: `#3`, `a request` */
export function linkWords(kind: Link['kind'], request: string): string {
  switch (kind) {
    case 'progress':
      return `for ${request}`
    case 'cancel':
      return `cancels ${request}`
    case 'task':
      return `task of ${request}`
    case 'round':
      return `continues ${request}`
    case 'subscription':
      return `subscription of ${request}`
  }
}
