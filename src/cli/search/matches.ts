import type { FindText } from '../../filter/index.js'
import { isLoneRecord, loneFacts } from '../../model/index.js'
import { escapeJson, escapeText, pad, truncate, widthOf } from '../../render/index.js'
import { wordsOf } from '../inspect/describe.js'
import type { InspectRow } from '../inspect/inspect-row.js'
import type { Page } from '../inspect/summary.js'
import type { ScopedRecording } from './scope.js'

/** Characters shown before a match, and in total for unlimited lines. */
const before = 30
const longestSnippet = 160

interface Snippet {
  readonly text: string
  /** Place of the match in `text`. */
  readonly match?: { readonly start: number; readonly end: number }
}

/** A piece of the row's text, around the match if the filter searched for a text. */
function snippetOf(row: InspectRow, findText: FindText): Snippet {
  const text = rowText(row)
  const found = findText(text)
  if (!found) return { text: start(told(text)) }
  const from = Math.max(0, found.start - before)
  const to = Math.min(found.text.length, Math.max(from + longestSnippet, found.end))
  const [head, tail] = [from > 0 ? '…' : '', to < found.text.length ? '…' : '']
  const at = head.length + found.start - from
  // A match may be as long as the message.
  const end = Math.min(at + found.end - found.start, at + 2 * longestSnippet)
  return {
    text: `${head}${found.text.slice(from, from + end - head.length)}${found.text.slice(Math.min(found.end, from + end - head.length), to)}${tail}`,
    match: { start: at, end },
  }
}

function rowText({ raw, record }: InspectRow): string {
  if (raw !== '') return raw
  return isLoneRecord(record) ? (loneFacts(record).text ?? '') : ''
}

/** The distinctive part of a message: its arguments, result or error. */
function told(text: string): string {
  const [, rest] = /"(?:arguments|params|result|error)"\s*:\s*([\s\S]*)$/.exec(text.slice(0, 4096)) ?? []
  return rest ?? text
}

function start(text: string): string {
  return text.length > longestSnippet ? `${text.slice(0, longestSnippet)}…` : text
}

/** One line of `--jsonl`: see docs/schemas/search.schema.json. */
export function matchJson(recording: ScopedRecording, row: InspectRow, findText: FindText): string {
  const envelope = row.part?.envelope
  const { text, match } = snippetOf(row, findText)
  return escapeJson(
    JSON.stringify({
      version: 1,
      recording: recording.name,
      files: recording.paths,
      label: row.session?.label ?? null,
      session: row.session?.id ?? null,
      sequence: row.seq < 0 ? null : row.seq,
      timestamp: row.us === undefined || row.t === '' ? null : row.t,
      direction: row.kind === 'stderr' || row.kind === 'gap' ? null : row.direction,
      kind: row.kind,
      method: envelope?.method ?? row.request?.method ?? null,
      subject: envelope?.subject ?? row.request?.subject ?? null,
      request: row.answers ?? null,
      latencyUs: row.latencyUs ?? null,
      facts: [...row.facts],
      snippet: text,
      match: match ?? null,
    }),
  )
}

/** A match for people; the first one of a recording follows its name. */
export function matchLine(
  recording: ScopedRecording,
  row: InspectRow,
  findText: FindText,
  isFirst: boolean,
  { style, columns = Infinity }: Page,
): string {
  const head = isFirst ? `${style.bold(escapeText(recording.shortName))}\n` : ''
  const number = pad(row.seq < 0 ? '–' : `#${row.seq}`, 6, 'left')
  const time = truncate(escapeText(row.us === undefined ? '–' : row.t.slice(0, 19).replace('T', ' ')), 19)
  const { what } = wordsOf(row)
  const arrow =
    row.kind === 'stderr' || row.kind === 'gap' ? '│' : row.direction === 'client_to_server' ? '→' : '←'
  const place = `${number}  ${pad(time, 19, 'right')}  ${arrow} `
  const isText = row.kind === 'stderr' || row.kind === 'noise'
  const words = isText ? row.kind : truncate(what.text, Math.max(20, Math.min(60, columns / 3)))
  const room = columns - widthOf(place) - widthOf(words) - 3
  const shown =
    room < 10 ? '' : `${style.dim(' · ')}${shownSnippet(snippetOf(row, findText), room, style.yellow)}`
  return `${head}${place}${style[what.tone](words)}${shown}\n`
}

function shownSnippet({ text, match }: Snippet, room: number, tone: (text: string) => string): string {
  if (!match) return truncate(escapeText(text), room)
  const found = truncate(escapeText(text.slice(match.start, match.end)), Math.max(8, room - 8))
  const left = room - widthOf(found)
  const start = escapeText(text.slice(0, match.start))
  const kept = widthOf(start) <= left / 2 ? start : `…${lastCells(start, Math.floor(left / 2) - 1)}`
  return `${kept}${tone(found)}${truncate(escapeText(text.slice(match.end)), left - widthOf(kept))}`
}

/** The end of an escaped text. */
function lastCells(text: string, cells: number): string {
  let shown = ''
  for (const point of Array.from(text).toReversed()) {
    if (widthOf(point + shown) > cells) break
    shown = point + shown
  }
  return shown
}
