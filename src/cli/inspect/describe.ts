import { isFrameRecord } from '../../model/index.js'
import {
  escapeText,
  factWords,
  formatDuration,
  linkWords,
  longestName,
  rowContent,
  rowLine,
  rowMatter,
  rowView,
  toldFacts,
  waitedWords,
  type RowTone,
  type RowView,
} from '../../render/index.js'
import type { Level } from '../../findings/index.js'
import type { InspectRow } from './inspect-row.js'

/** A text about a row; escaped. */
export interface Note {
  readonly text: string
  readonly tone: RowTone
}

/** The texts of a row in a list. */
export interface RowWords {
  /** The subject of the row. */
  readonly what: Note
  /** Content that distinguishes it within its method; escaped. */
  readonly content: string
  /** The row's special facts, most important first. */
  readonly notes: readonly Note[]
}

export function wordsOf(row: InspectRow): RowWords {
  const { record, kind, part, facts } = row
  const view = rowView(
    rowMatter(record, part, kind),
    row.request,
    facts.has('tool-error') || facts.has('task-failed'),
  )
  return {
    what: { text: rowLine(view, kind, row.answers), tone: view.tone },
    content: rowContent(record, part, kind, row.request),
    notes: notesOf(row, view),
  }
}

const findingTones: Readonly<Record<Level, RowTone>> = { error: 'red', warning: 'yellow', note: 'dim' }

const levels: readonly Level[] = ['error', 'warning', 'note']

/** Rules whose findings the row's text already shows. */
const saidAnyway: ReadonlySet<string> = new Set([
  'protocol/unanswered',
  'protocol/invalid-message',
  'protocol/stray-output',
  'protocol/second-response',
  'protocol/stray-response',
])

/** Each rule once, with the worst level of its findings, worst first. */
function foundIn({ findings = [] }: InspectRow): [id: string, level: Level][] {
  const told = findings.filter(({ rule }) => !saidAnyway.has(rule.id))
  return levels.flatMap((level, i) => {
    const ids = new Set(told.filter((finding) => finding.level === level).map(({ rule }) => rule.id))
    const isWorse = (id: string): boolean =>
      told.some(({ rule, level: other }) => rule.id === id && levels.indexOf(other) < i)
    return [...ids].flatMap((id): [string, Level][] => (isWorse(id) ? [] : [[id, level]]))
  })
}

function notesOf(row: InspectRow, { said, why }: RowView): Note[] {
  const { record, kind, part } = row
  const notes: Note[] = toldFacts(row.facts).map((fact) => factWords[fact])
  for (const [id, level] of foundIn(row)) notes.push({ text: `! ${id}`, tone: findingTones[level] })
  if (row.heldMs !== undefined && row.heldMs > 0)
    notes.push({ text: `held ${formatDuration(row.heldMs * 1000)}`, tone: 'dim' })
  if (row.waitedUs !== undefined) notes.push({ text: waitedWords(row.waitedUs), tone: 'dim' })
  if (isFrameRecord(record) && record.rule !== undefined)
    notes.push({ text: `rule ${escapeText(record.rule.slice(0, longestName))}`, tone: 'dim' })
  if (part && kind !== 'invalid' && said !== '')
    notes.push({ text: said, tone: kind === 'error' ? 'red' : 'plain' })
  if (row.answeredIn !== undefined) notes.push({ text: `answered in #${row.answeredIn}`, tone: 'dim' })
  part?.links?.forEach(({ kind: link }, i) => {
    const request = row.linked[i] === undefined ? 'a request' : `#${row.linked[i]}`
    notes.push({ text: linkWords(link, request), tone: 'dim' })
  })
  if (why !== '') notes.push({ text: why, tone: 'red' })
  return notes
}
