import type { WriteStream } from 'node:tty'
import type { Frame } from './frame-lines.js'
import type { Line, Tone } from './spans.js'

/** The terminal's whole screen, on which frames are drawn. */
export interface Canvas {
  /** Draws the frame that `make` returns at the next drawing time. Of several calls, the last one wins. */
  draw(make: () => Frame): void
  /** Stops drawing: the terminal may belong to another program. */
  close(): void
}

/** Minimum time between two frames; faster ones would not be seen. */
const frameMs = 33

/** Select Graphic Rendition (ECMA-48, 8.3.117). */
const looks: Readonly<Record<Tone, number | undefined>> = {
  plain: undefined,
  bold: 1,
  dim: 2,
  inverse: 7,
  red: 31,
  green: 32,
  yellow: 33,
  blue: 34,
  magenta: 35,
  cyan: 36,
}

/**
 * Draws each frame over the previous one, line by line, without clearing the screen. This avoids flicker and
 * keeps the terminal's scrollback.
 *
 * @param colours false if the user wants none: signs and weight carry the important facts too
 * @param failed receives an error thrown while making a frame
 */
export function openCanvas(stdout: WriteStream, colours: boolean, failed: (error: unknown) => void): Canvas {
  let drawn: readonly string[] = []
  let drawnSize = ''
  let drawnAtMs = -Infinity
  let next: () => Frame
  let timer: NodeJS.Timeout | undefined
  let closed = false

  function drawNext(): void {
    timer = undefined
    drawnAtMs = performance.now()
    const { lines, selected } = next()
    const { columns, rows } = sizeOf(stdout)
    const size = `${columns} ${rows}`
    // A resized terminal has moved its content.
    if (size !== drawnSize) drawn = []
    const texts = lines.slice(0, rows).map((line, i) => lineText(line, i === selected, colours))
    // A line is erased before it is written: after a line of full width, the cursor is still on the last
    // cell. One changed line redraws all: another program may have written to the terminal and scrolled it.
    const isSame = texts.length === drawn.length && texts.every((text, i) => text === drawn[i])
    let picture = isSame ? '' : texts.map((text, i) => `\u001b[${i + 1}H\u001b[K${text}`).join('')
    const isShorter = drawn.length === 0 || texts.length < drawn.length
    if (isShorter && texts.length < rows) picture += `\u001b[${texts.length + 1}H\u001b[J`
    drawn = texts
    drawnSize = size
    if (picture !== '') stdout.write(picture)
  }

  function tryNext(): void {
    try {
      drawNext()
    } catch (error) {
      failed(error)
    }
  }

  return {
    draw(make) {
      next = make
      const waitMs = drawnAtMs + frameMs - performance.now()
      if (timer || closed) return
      if (waitMs > 0) timer = setTimeout(tryNext, waitMs)
      else tryNext()
    },
    close() {
      closed = true
      clearTimeout(timer)
    },
  }
}

/** The marked line has no colours of its own. */
function lineText(line: Line, isSelected: boolean, colours: boolean): string {
  return line
    .map(({ text, tone }) => {
      const isShown = tone === 'bold' || tone === 'inverse' || (colours && !isSelected)
      const codes = [isSelected ? looks.inverse : undefined, isShown ? looks[tone] : undefined]
      const given = codes.filter((code) => code !== undefined)
      return given.length === 0 || text === '' ? text : `\u001b[${given.join(';')}m${text}\u001b[m`
    })
    .join('')
}

/** Terminals on a serial line or in some containers report no size. */
export function sizeOf({ columns, rows }: Pick<WriteStream, 'columns' | 'rows'>): {
  readonly columns: number
  readonly rows: number
} {
  return { columns: columns > 0 ? columns : 80, rows: rows > 0 ? rows : 24 }
}
