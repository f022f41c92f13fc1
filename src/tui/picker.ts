import type { ReadStream, WriteStream } from 'node:tty'
import { escapeText } from '../render/index.js'
import { openCanvas, type Canvas } from './canvas.js'
import type { Frame } from './frame-lines.js'
import type { Key } from './keys.js'
import { span, truncateLine, type Line } from './spans.js'
import { Terminal } from './terminal.js'

/** One choice. */
export interface Choice {
  readonly name: string
  /** Description beside the name. */
  readonly about: string
}

export interface PickerOptions {
  readonly title: string
  /** Lines below the choices. */
  readonly advice?: readonly string[]
  readonly choices: readonly Choice[]
  readonly colours: boolean
  readonly stdin: ReadStream
  readonly stdout: WriteStream
  /** Abort: nothing is chosen. */
  readonly signal?: AbortSignal
}

/** Lets the user choose one. Returns its index, or undefined if none was chosen. */
export async function pickOne(options: PickerOptions): Promise<number | undefined> {
  const chosen = await pick(options, undefined)
  return chosen?.[0]
}

/** Lets the user choose one, or mark several with Space. Returns the indexes, or undefined if none. */
export async function pickSome(options: PickerOptions): Promise<readonly number[] | undefined> {
  return pick(options, new Set())
}

async function pick(
  options: PickerOptions,
  marked: Set<number> | undefined,
): Promise<readonly number[] | undefined> {
  const { choices, colours, stdin, stdout, signal } = options
  const terminal = new Terminal(stdin, stdout)
  let at = 0
  const picture = (): Frame => pickerFrame(options, at, terminal.columns, terminal.rows, marked)
  let canvas: Canvas | undefined
  let leave: () => void = () => undefined
  try {
    return await new Promise<readonly number[] | undefined>((resolve, reject) => {
      const begin = (): void => {
        canvas?.close()
        canvas = openCanvas(stdout, colours, reject)
        canvas.draw(picture)
      }
      leave = () => resolve(undefined)
      signal?.addEventListener('abort', leave)
      if (signal?.aborted) return leave()
      terminal.onGone(leave)
      begin()
      terminal.onBack(begin)
      terminal.onResize(() => canvas?.draw(picture))
      terminal.onKey((key) => {
        if (key.name === ' ' && marked && choices.length > 0) {
          if (!marked.delete(at)) marked.add(at)
          at = Math.min(choices.length - 1, at + 1)
          return canvas?.draw(picture)
        }
        const chosen = press(key, at, choices.length)
        if (chosen === 'chosen')
          return resolve(
            choices.length === 0 ? undefined : marked?.size ? [...marked].toSorted((a, b) => a - b) : [at],
          )
        if (chosen === 'left') return resolve(undefined)
        at = chosen
        canvas?.draw(picture)
      })
    })
  } finally {
    signal?.removeEventListener('abort', leave)
    canvas?.close()
    terminal.close()
  }
}

function press({ name }: Key, at: number, count: number): number | 'chosen' | 'left' {
  switch (name) {
    case 'enter':
      return 'chosen'
    case 'q':
    case 'esc':
    case 'ctrl+c':
      return 'left'
    case 'j':
    case 'down':
      return Math.min(count - 1, at + 1)
    case 'k':
    case 'up':
      return Math.max(0, at - 1)
    case 'g':
    case 'home':
      return 0
    case 'G':
    case 'end':
      return count - 1
    default: {
      const number = /^[1-9]$/.test(name) ? Number(name) - 1 : -1
      return number >= 0 && number < count ? number : at
    }
  }
}

/** The choices around the marked one. Pure. */
function pickerFrame(
  { title, choices, advice = [] }: Pick<PickerOptions, 'title' | 'choices' | 'advice'>,
  at: number,
  columns: number,
  rows: number,
  marked?: ReadonlySet<number>,
): Frame {
  const shownAdvice = rows > advice.length + 10 ? advice : []
  const room = Math.max(1, rows - 4 - shownAdvice.length)
  const top = Math.max(0, Math.min(at - Math.floor(room / 2), choices.length - room))
  const shown = choices.slice(top, top + room)
  const lines: Line[] = [
    [span(` ${escapeText(title)}`, 'bold')],
    ...shown.map(({ name, about }, i): Line => [
      ...(marked ? [span(marked.has(top + i) ? ' *' : '  ', 'bold')] : []),
      span(` ${String(top + i + 1).padStart(2)}  `, 'dim'),
      span(escapeText(name)),
      span(`  ${escapeText(about)}`, 'dim'),
    ]),
    [],
    ...shownAdvice.map((text): Line => [span(` ${escapeText(text)}`, 'dim')]),
    [
      span(' Enter', 'bold'),
      span(' choose  ', 'dim'),
      ...(marked ? [span('Space', 'bold'), span(' mark several  ', 'dim')] : []),
      span('j k', 'bold'),
      span(' move  ', 'dim'),
      span('q', 'bold'),
      span(' leave', 'dim'),
    ],
  ]
  return { lines: lines.map((line) => truncateLine(line, columns)), selected: 1 + at - top }
}
