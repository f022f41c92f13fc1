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

/** A row of a recording; a note of a person is one in lists that show it by itself. */
export type RowKind = EntryKind | 'note'

/** A name of a style. */
export type RowTone = 'plain' | 'dim' | 'red' | 'yellow'

/** Characters of a text that a peer chose, at most. */
export const longestName = 200

/** What the words of a row are made of: texts of peers as they came, not escaped. */
export interface RowMatter {
  readonly kind: RowKind
  /** Of a request or notification; over HTTP without a message, the request's method. */
  readonly method: string
  /** What it was about: the tool, the prompt; over HTTP without a message, the path. */
  readonly subject: string
  /** What it says itself: an error's code and message, a line, a status, how much is missing. */
  readonly said: string
  /** Why something is missing, or ended before its time. */
  readonly why: string
}

/** What a request was about, for its answer. */
export interface AskedMatter {
  readonly method: string
  readonly subject?: string
}

/** The words of a row; escaped, and of bounded length. */
export interface RowView {
  /** What it is, where its method does not say that: `result`, `404`, `not JSON`. */
  readonly kind: string
  /** Of what; '' where it belongs to nothing. */
  readonly name: string
  readonly subject: string
  readonly said: string
  readonly why: string
  readonly tone: RowTone
}

/** What the record of a row says. @param part of a message */
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
      // What a listener of ours answered itself is no failure of the server.
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
 * @param asked of an answer, its request
 * @param failed a result that reports a tool's error
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
 * The words in one line, for lists of text: `tools/call search`, `result of #3 tools/call search`, `gap: 2 messages not
 * recorded`.
 *
 * @param number of an answer, that of its request
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
      // Transcripts say neither method nor path.
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

/** Facts in words. */
export const factWords: Readonly<Record<Fact, { readonly text: string; readonly tone: RowTone }>> = {
  unanswered: { text: 'unanswered', tone: 'yellow' },
  late: { text: 'late: already answered', tone: 'yellow' },
  orphan: { text: 'unmatched: no request in this recording', tone: 'yellow' },
  duplicate: { text: 'duplicate id', tone: 'yellow' },
  'tool-error': { text: 'tool error', tone: 'red' },
  cancelled: { text: 'cancelled', tone: 'dim' },
  undelivered: { text: 'not delivered', tone: 'yellow' },
  batch: { text: 'batch', tone: 'dim' },
  waiting: { text: 'held, never forwarded', tone: 'yellow' },
  'held-now': { text: 'held', tone: 'yellow' },
  dropped: { text: 'dropped', tone: 'yellow' },
  'answered-here': { text: 'answered by wiretape', tone: 'yellow' },
  modified: { text: 'modified', tone: 'yellow' },
  injected: { text: 'sent by wiretape', tone: 'yellow' },
}

/** Who created or changed a message instead of a peer; '' for other messages. Escaped. */
export function authorWords(record: TapeRecord, part: Part | undefined): string {
  if (record.type !== 'message' || !(record.injected || record.modified)) return ''
  const { rule } = record
  const { kind, errorMessage } = part?.envelope ?? { kind: 'invalid' }
  const who = whoInjected(kind, rule, errorMessage)
  if (who === 'rule') return `rule ${shortened(rule ?? '')}`
  return who === 'person' ? 'a person' : who
}

/** Facts that a list tells: an answered request is not told as dropped too. */
export function toldFacts(facts: ReadonlySet<Fact>): readonly Fact[] {
  return [...facts].filter((fact) => fact !== 'dropped' || !facts.has('answered-here'))
}

/** What a link says. @param request the request that it leads to, in words: `#3`, `a request` */
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
