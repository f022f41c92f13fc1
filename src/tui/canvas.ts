import type { WriteStream } from 'node:tty'

/** What pictures are drawn on. */
export interface Canvas {
  /** As the terminal's own stream, but for what it does with pictures. */
  readonly stream: WriteStream
  /** Nothing is drawn any more: a picture may come late, when the terminal belongs to somebody else. */
  close(): void
}

/** How a picture of a whole screen begins: screen and scrollback erased, cursor at home (ECMA-48; 3 J is xterm's). */
const clearTerminal = '\u001b[2J\u001b[3J\u001b[H'

/**
 * Draws a picture over the last one, line by line: nothing flickers, and what scrolled out of the terminal before is
 * its user's to keep.
 */
export function openCanvas(stdout: WriteStream): Canvas {
  let open = true
  const write = (text: string | Uint8Array): boolean =>
    !open || stdout.write(typeof text === 'string' ? overdrawn(text, sizeOf(stdout).rows) : text)
  const stream = new Proxy(stdout, {
    get(target, name) {
      if (name === 'write') return write
      if (name === 'columns' || name === 'rows') return sizeOf(stdout)[name]
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
  return {
    stream,
    close() {
      open = false
    },
  }
}

function overdrawn(text: string, rows: number): string {
  const at = text.lastIndexOf(clearTerminal)
  if (at < 0) return text
  const lines = text.slice(at + clearTerminal.length).split('\n')
  // A line is erased before it is written: after one that fills its width the cursor still stands on its last cell.
  const picture = lines.map((line) => `\u001b[K${line}`).join('\n')
  const rest = lines.length < rows ? '\n\u001b[J' : ''
  return `${text.slice(0, at)}\u001b[H${picture}${rest}`
}

/** A terminal behind a serial line, or of some containers, does not know its size. */
export function sizeOf({ columns, rows }: Pick<WriteStream, 'columns' | 'rows'>): {
  readonly columns: number
  readonly rows: number
} {
  return { columns: columns > 0 ? columns : 80, rows: rows > 0 ? rows : 24 }
}
