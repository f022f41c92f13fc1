import { countOf, escapeText, formatCount, pad, truncate, widthOf } from '../render/index.js'
import { againLines, detailLines } from './detail.js'
import { foundFrame } from './found-list.js'
import { offeredKeys } from './hints.js'
import { keyLabel, keyTable } from './key-table.js'
import { headLine, rowLine, type Signs } from './row-line.js'
import { endingOf, type Line, lineWidth, span, type Span, truncateLine, wrapWords } from './spans.js'
import { layoutOf, selectedRow, type Context, type Editor, type ScreenState } from './state.js'
import type { TextField } from './text-field.js'
import type { Frame } from './frame-lines.js'

/** Lines of a problem below an editor. */
const mostProblemLines = 4

/** The whole screen as lines, one line less than the terminal has. Pure. */
export function frameOf(state: ScreenState, context: Context, signs: Signs): Frame {
  const { width } = layoutOf(state)
  const top = titleLine(state, context, width, signs)
  const bottom = noticeLines(state, width) ?? [
    statusLine(state, context, width),
    bottomLine(state, context, width),
  ]
  const middle = state.editor
    ? editorFrame(state, state.editor, signs)
    : state.found
      ? foundFrame(state, state.found, context, signs.rule)
      : state.helpTop !== undefined
        ? helpFrame(state, state.helpTop)
        : listFrame(state, context, signs)
  return {
    lines: [top, ...middle.lines, ...bottom].map((line) => truncateLine(line, width)),
    selected: middle.selected < 0 ? -1 : middle.selected + 1,
  }
}

function titleLine(state: ScreenState, { hello, owner, saved }: Context, width: number, signs: Signs): Line {
  const where =
    hello.listening !== null
      ? `${hello.listening} ${signs.toServer} ${hello.url ?? hello.command.join(' ')}`
      : (hello.url ?? hello.command.join(' '))
  const ended = saved ? 'saved' : 'ended'
  const phase = { loading: 'reading…', live: `${signs.live} live`, ended, lost: 'connection lost' }[
    state.phase
  ]
  const right = ` ${phase} `
  const name = ` ${escapeText(hello.label)} `
  const room = Math.max(0, width - widthOf(name) - widthOf(right) - 1)
  const tone = state.phase === 'live' ? 'green' : state.phase === 'loading' || saved ? 'dim' : 'red'
  return [
    span(name, 'inverse'),
    span(` ${pad(truncate(escapeText(where), room), room)}`, owner ? 'plain' : 'dim'),
    span(right, tone),
  ]
}

function listFrame(state: ScreenState, context: Context, signs: Signs): Frame {
  const { width, list, detail } = layoutOf(state)
  const { log, view } = context
  const lines: Line[] = []
  if (list > 0) {
    lines.push(headLine(width))
    for (let i = 0; i < list; i += 1) {
      const row = view.at(state.top + i)
      const shown = row === undefined ? undefined : log.row(row)
      lines.push(shown ? rowLine(shown, width, signs) : i === 0 ? [span(emptyWords(state, view), 'dim')] : [])
    }
  }
  const body = detailOf(state, context, width)
  const most = Math.max(0, body.length - detail)
  const detailTop = Math.min(state.detailTop, most)
  lines.push(ruleLine(state, width, signs, body.length, detailTop, detail))
  lines.push(...filled(body.slice(detailTop, detailTop + detail), detail))
  return { lines, selected: list > 0 && view.length > 0 ? 1 + state.cursor - state.top : -1 }
}

function emptyWords(state: ScreenState, view: Context['view']): string {
  if (state.phase === 'loading') return 'reading the tape…'
  return view.filter === undefined ? 'no messages yet' : 'no message matches the filter (Esc removes it)'
}

let cached: { key: readonly unknown[]; lines: Line[] } | undefined

/** These lines are the most expensive; they are cached until their content changes. */
function detailOf(state: ScreenState, context: Context, width: number): Line[] {
  const at = selectedRow(state, context)
  const key = [context.log, at, width, state.version, state.again]
  if (cached && key.every((part, i) => part === cached!.key[i])) return cached.lines
  const row = at === undefined ? undefined : context.log.row(at)
  const again = state.again && state.again.row === at ? state.again : undefined
  const lines = again
    ? againLines(again, width)
    : row
      ? detailLines(context.log, row, width)
      : [[span('the selected message appears here', 'dim' as const)]]
  cached = { key, lines }
  return lines
}

function ruleLine(
  state: ScreenState,
  width: number,
  signs: Signs,
  length: number,
  top: number,
  height: number,
): Line {
  const place =
    length > height
      ? ` ${top + 1}${signs.range}${Math.min(length, top + height)} of ${formatCount(length)} `
      : ''
  const rule = signs.rule.repeat(Math.max(0, width - widthOf(place) - 2))
  return [
    span(rule, state.focus === 'detail' ? 'cyan' : 'dim'),
    span(place, 'dim'),
    span(signs.rule.repeat(2), 'dim'),
  ]
}

function statusLine(state: ScreenState, { log, view, saved }: Context, width: number): Line {
  const { gate } = state
  const left: Span[] = [
    saved
      ? span('[SAVED]', 'dim')
      : gate?.hold || gate?.awaitsScreen
        ? span('[INTERCEPT]', 'yellow')
        : span('[PASSTHROUGH]', 'green'),
  ]
  const held = gate?.held ?? log.heldCount
  if (held > 0) left.push(span(` ${formatCount(held)} held`, 'yellow'))
  const shown =
    view.filter === undefined
      ? countWords(log.length)
      : `${formatCount(view.length)} of ${countWords(log.length)}`
  left.push(span(`  ${shown}`))
  const isOver = saved || state.phase === 'ended' || state.phase === 'lost'
  if (!isOver) left.push(state.follow ? span('  following', 'dim') : span('  paused', 'yellow'))
  if (state.filterText !== '') left.push(span(`  filter ${escapeText(state.filterText)}`, 'cyan'))
  if ((gate?.breakpoints.length ?? 0) > 0) {
    const words = `${gate!.hold ? 'break' : 'break (off)'} ${escapeText(gate!.breakpoints.join(', '))}`
    left.push(span(`  ${words}`, gate!.hold ? 'yellow' : 'dim'))
  }
  if (gate?.rules) {
    const { count, fault } = gate.rules
    const words = `  ${countOf(count, 'rule')}${fault === undefined ? '' : ' (fault)'}`
    left.push(span(words, fault === undefined ? 'dim' : 'red'))
  }
  const { error, warning } = log.found.counts
  const worst = error > 0 ? countOf(error, 'error') : warning > 0 ? countOf(warning, 'warning') : ''
  if (worst !== '') left.push(span(`  ! ${worst}`, error > 0 ? 'red' : 'yellow'))
  if (log.faults > 0) left.push(span(`  ${log.faults} unreadable lines`, 'red'))
  const notice = state.notice
  if (!notice) {
    const others = (gate?.screens ?? 1) + (gate?.onlookers ?? 0) - 1
    if (others <= 0) return left
    return spread(
      left,
      [span(others === 1 ? '1 other program attached ' : `${others} other programs attached `, 'dim')],
      width,
    )
  }
  return spread(left, [span(` ${escapeText(notice.text)} `, noticeTones[notice.tone])], width)
}

/** A notice too long for the status bar also uses the line below it, unless a prompt or editor is open. */
function noticeLines({ notice, prompt, editor }: ScreenState, width: number): Line[] | undefined {
  if (!notice || prompt || editor) return undefined
  const said = span(escapeText(notice.text), noticeTones[notice.tone])
  if (widthOf(said.text) + 2 <= width) return undefined
  const [first, ...others] = wrapWords(said, width)
  const rest = others.flatMap((line, i) => (i === 0 ? line : [span(' '), ...line]))
  return [first!, rest]
}

const noticeTones = { good: 'green', bad: 'red', plain: 'bold' } as const

function countWords(count: number): string {
  return `${formatCount(count)} ${count === 1 ? 'row' : 'rows'}`
}

/** If both do not fit, the right side takes precedence. */
function spread(left: readonly Span[], right: readonly Span[], width: number): Line {
  const room = Math.max(0, width - lineWidth(right))
  const kept = truncateLine(left, room)
  return [...kept, span(' '.repeat(Math.max(0, room - lineWidth(kept)))), ...right]
}

/** The prompt, or the available keys. */
function bottomLine(state: ScreenState, context: Context, width: number): Line {
  const { prompt, editor } = state
  if (prompt) {
    const names = { filter: '/', break: 'break on: ', note: 'note: ', save: 'save to: ' }
    const fault = prompt.fault === undefined ? [] : [span(`  ${escapeText(prompt.fault)}`, 'red')]
    return [span(names[prompt.kind], 'bold'), ...fieldLine(prompt.field, Math.floor(width * 0.7)), ...fault]
  }
  if (editor)
    return hints(
      [
        ['Ctrl+S', 'confirm'],
        ['Esc', 'cancel'],
        ['Ctrl+O', 'open in $EDITOR'],
      ],
      width,
    )
  if (state.found)
    return hints(
      [
        ['j k', 'move'],
        ['Enter', 'to message'],
        ['Esc', 'close'],
      ],
      width,
      1,
    )
  if (state.helpTop !== undefined)
    return hints(
      [
        ['j k', 'scroll'],
        ['any other key', 'close'],
      ],
      width,
    )
  // Help and quit are always shown.
  return hints(offeredKeys(state, context), width, 2)
}

function hints(pairs: readonly (readonly [string, string])[], width: number, kept = 0): Line {
  const shown = [...pairs]
  const size = (): number => shown.reduce((sum, [key, label]) => sum + widthOf(key) + widthOf(label) + 3, 0)
  while (size() > width && shown.length > kept) shown.splice(shown.length - kept - 1, 1)
  return shown.flatMap(([key, label]) => [span(key, 'bold'), span(` ${label}  `, 'dim')])
}

/** An edited line with its cursor; if too long, only the part around the cursor. */
function fieldLine(field: TextField, width: number, row = field.row): Line {
  const text = field.lines[row]!
  if (row !== field.row) return [span(escapeText(text.slice(0, width * 2)))]
  const under = String.fromCodePoint(text.codePointAt(field.column) ?? 0x20)
  const near = escapeText(text.slice(Math.max(0, field.column - width), field.column))
  const before = endingOf(near, width - widthOf(escapeText(under)))
  const after = text.slice(
    field.column + (field.column < text.length ? under.length : 0),
    field.column + width,
  )
  return [span(before), span(escapeText(under), 'inverse'), span(escapeText(after))]
}

function editorFrame(state: ScreenState, editor: Editor, signs: Signs): Frame {
  const { width, list, detail } = layoutOf(state)
  const height = list + detail + (list > 0 ? 2 : 1)
  const { field } = editor
  const problem = problemLines(editor, width)
  const page = Math.max(1, height - 1 - problem.length)
  const top = Math.max(0, Math.min(field.top, field.row), field.row - page + 1)
  const place = ` ${field.row + 1}:${field.column + 1} `
  const title: Line = [
    span(` ${editor.title} `, 'bold'),
    span(signs.rule.repeat(Math.max(0, width - widthOf(editor.title) - widthOf(place) - 2)), 'dim'),
    span(place, 'dim'),
  ]
  const lines = field.lines.slice(top, top + page).map((_, i) => fieldLine(field, width, top + i))
  return { lines: [title, ...filled(lines, page), ...problem], selected: -1 }
}

/** The whole sentence, as far as there is room. */
function problemLines({ fault, token, purpose }: Editor, width: number): Line[] {
  const waits = token !== undefined && (purpose === 'compose' || purpose === 'again')
  if (waits) return [[span('sent, waiting for the response… (Esc stops waiting)', 'yellow')]]
  if (fault === undefined) return [[]]
  return wrapWords(span(escapeText(fault), 'red'), width).slice(0, mostProblemLines)
}

function helpFrame(state: ScreenState, helpTop: number): Frame {
  const { list, detail } = layoutOf(state)
  const height = list + detail + (list > 0 ? 2 : 1)
  const all: Line[] = keyTable.map(({ keys, help }) => [
    span(pad(` ${keys.map(keyLabel).join(' ')}`, 21), 'bold'),
    span(help),
  ])
  const top = Math.min(helpTop, Math.max(0, all.length - height))
  return { lines: filled(all.slice(top, top + height), height), selected: -1 }
}

function filled(lines: readonly Line[], height: number): Line[] {
  return Array.from({ length: height }, (_, i) => lines[i] ?? [])
}
