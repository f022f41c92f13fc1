import type { WriteStream } from 'node:tty'
import type { Frame } from './frame-lines.js'
import type { Line, Tone } from './spans.js'

/** The terminal's whole screen, on which frames are drawn. */
export interface Canvas {
  /** Draws the frame that is made when its turn comes; of several that come at once, the last one. */
  draw(make: () => Frame): void
  /** Draws nothing any more: the terminal may belong to another program. */
  close(): void
}

/** Between two frames: nobody sees more of them. */
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
 * Draws each frame over the last one, line by line and without clearing the screen: nothing flickers, and what
 * scrolled out of the terminal before is its user's to keep.
 *
 * @param colours false where the user wants none: what matters is said by signs and weight too
 * @param failed takes an error of what makes a frame
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
    // A terminal of another size has moved what stood on it.
    if (size !== drawnSize) drawn = []
    const texts = lines.slice(0, rows).map((line, i) => lineText(line, i === selected, colours))
    // A line is erased before it is written: after one that fills its width the cursor still stands on its last cell.
    // All lines, when one changed: another program may have written to the terminal meanwhile and scrolled it.
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

/** A marked line has no colours of its own. */
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

/** A terminal behind a serial line, or of some containers, does not know its size. */
export function sizeOf({ columns, rows }: Pick<WriteStream, 'columns' | 'rows'>): {
  readonly columns: number
  readonly rows: number
} {
  return { columns: columns > 0 ? columns : 80, rows: rows > 0 ? rows : 24 }
}
