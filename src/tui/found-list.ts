import type { Finding, Level } from '../findings/index.js'
import { countOf, escapeText, formatCount, pad, truncate } from '../render/index.js'
import type { Frame } from './frame-lines.js'
import type { Key } from './keys.js'
import { span, wrapWords, type Line, type Tone } from './spans.js'
import { layoutOf, only, type Context, type ScreenState, type Step } from './state.js'
import type { FoundList } from './found.js'

export const levelTones: Readonly<Record<Level, Tone>> = { error: 'red', warning: 'yellow', note: 'dim' }

/** Opens the list at the finding of the chosen row, if it has one. */
export function openFound(state: ScreenState, { log }: Context, about: number | undefined): Step {
  const { list } = log.found
  const [own] = about === undefined ? [] : log.found.at(about)
  const cursor = own ? list.indexOf(own) : 0
  return only({ ...state, found: { cursor, chosen: list[cursor] } })
}

export function pressInFound(state: ScreenState, found: FoundList, key: Key, context: Context): Step {
  const { list } = context.log.found
  const at = placeOf(found, list)
  const page = Math.max(1, listHeight(state) - 1)
  const to = (cursor: number): Step => {
    const next = Math.max(0, Math.min(cursor, list.length - 1))
    return only({ ...state, found: { cursor: next, chosen: list[next] } })
  }
  switch (key.name) {
    case 'j':
    case 'down':
      return to(at + 1)
    case 'k':
    case 'up':
      return to(at - 1)
    case 'pagedown':
    case 'ctrl+f':
    case ' ':
      return to(at + page)
    case 'pageup':
    case 'ctrl+b':
      return to(at - page)
    case 'g':
    case 'home':
      return to(0)
    case 'G':
    case 'end':
      return to(list.length - 1)
    case 'enter':
      return list[at] ? jump(state, list[at], context) : only(state)
    case 'esc':
    case '!':
    case 'q':
    case 'ctrl+c':
      return only(closed(state))
    default:
      return only(state)
  }
}

function closed({ found: _, ...state }: ScreenState): ScreenState {
  return state
}

/** Jumps to the first message of the finding; removes a filter that hides the message. */
function jump(state: ScreenState, { rows: [row] }: Finding, { view }: Context): Step {
  if (row === undefined || row < 0)
    return only({ ...state, notice: { text: 'this finding is about the whole recording', tone: 'plain' } })
  const shown = { ...closed(state), follow: false, focus: 'list' as const }
  const index = view.indexOf(row)
  if (view.at(index) === row) return only({ ...shown, cursor: index })
  return {
    state: {
      ...shown,
      filterText: '',
      notice: { text: 'filter removed, because it hid this message', tone: 'plain' },
    },
    effects: [{ kind: 'filter', filter: undefined, row }],
  }
}

function placeOf({ cursor, chosen }: FoundList, list: readonly Finding[]): number {
  if (list[cursor] === chosen) return cursor
  const at = chosen ? list.indexOf(chosen) : -1
  return at < 0 ? Math.min(cursor, Math.max(0, list.length - 1)) : at
}

function bodyHeight(state: ScreenState): number {
  const { list, detail } = layoutOf(state)
  return list + detail + (list > 0 ? 2 : 1)
}

/** Lines of the list; the remaining lines describe the chosen finding. */
function listHeight(state: ScreenState): number {
  const height = bodyHeight(state)
  return Math.max(1, height - 2 - Math.min(8, Math.floor(height / 3)))
}

/** The list of findings, shown instead of the messages. */
export function foundFrame(state: ScreenState, found: FoundList, { log }: Context, rule: string): Frame {
  const { width } = layoutOf(state)
  const { list, counts, left } = log.found
  const height = bodyHeight(state)
  const page = listHeight(state)
  const at = placeOf(found, list)
  const top = Math.max(0, Math.min(at - Math.floor(page / 2), list.length - page))
  const counted = (['error', 'warning', 'note'] as const).flatMap((level) =>
    counts[level] === 0 ? [] : [countOf(counts[level], level)],
  )
  const more = left === 0 ? '' : ` and ${formatCount(left)} more`
  const title: Line = [
    span(' Findings ', 'bold'),
    span(list.length === 0 ? 'no findings so far' : `${counted.join(', ')}${more}`, 'dim'),
  ]
  const shown = list.slice(top, top + page)
  const idWidth = Math.max(12, Math.min(28, Math.floor(width / 3), ...widest(shown)))
  const rows = shown.map((finding) => rowOf(finding, log, idWidth, width))
  const lines = [title, ...fill(rows, page), [span(rule.repeat(width), 'dim')]] as Line[]
  const chosen = list[at]
  const about = chosen ? aboutLines(chosen, width) : [[span('no findings', 'dim')] as Line]
  return {
    lines: [...lines, ...fill(about, Math.max(0, height - lines.length))].slice(0, height),
    selected: list.length === 0 ? -1 : 1 + at - top,
  }
}

function widest(shown: readonly Finding[]): number[] {
  return shown.length === 0 ? [] : [Math.max(...shown.map(({ rule }) => rule.id.length))]
}

function rowOf(finding: Finding, log: Context['log'], idWidth: number, width: number): Line {
  const { level, rule, rows, tool, message } = finding
  const [row] = rows
  const seq = row === undefined || row < 0 ? undefined : log.row(row)?.seq
  const number = seq === undefined || seq < 0 ? '' : `#${seq}`
  const left = ` ${pad(level, 7)}  ${pad(truncate(rule.id, idWidth), idWidth)}  ${pad(number, 6)}  `
  const said = escapeText(tool === undefined || message.includes(tool) ? message : `${tool}: ${message}`)
  const room = Math.max(0, width - left.length)
  return [span(` ${pad(level, 7)}`, levelTones[level]), span(left.slice(8)), span(truncate(said, room))]
}

function aboutLines({ rule, level, message, server, tool, at }: Finding, width: number): Line[] {
  const where = [server, tool, at]
    .filter((part) => part !== undefined && part !== '')
    .map((part) => escapeText(part!))
  return [
    ...wrapWords(span(escapeText(message), levelTones[level] === 'dim' ? 'plain' : levelTones[level]), width),
    ...wrapWords(span(`${rule.title} ${rule.help}`, 'plain'), width),
    ...wrapWords(span([`${rule.certainty}, ${rule.source.name}`, ...where].join(' · '), 'dim'), width),
  ]
}

function fill(lines: readonly Line[], height: number): Line[] {
  return Array.from({ length: height }, (_, i) => lines[i] ?? [])
}
