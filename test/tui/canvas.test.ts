import { PassThrough } from 'node:stream'
import type { WriteStream } from 'node:tty'
import { describe, expect, it } from 'vitest'
import { openCanvas } from '../../src/tui/canvas.js'

/** What Ink writes before each picture that fills the terminal. */
const clearTerminal = '\u001b[2J\u001b[3J\u001b[H'

function terminal(rows: number): { stdout: WriteStream; written: () => string } {
  const stdout = Object.assign(new PassThrough(), { rows, columns: 20, isTTY: true })
  return {
    stdout: stdout as unknown as WriteStream,
    written: () => String((stdout.read() as Buffer | null) ?? ''),
  }
}

describe('a picture of the whole screen', () => {
  it('is drawn over the last one: nothing is wiped, least of all what has scrolled out', () => {
    const { stdout, written } = terminal(2)
    const canvas = openCanvas(stdout)
    canvas.stream.write(`${clearTerminal}a full line\nsecond`)
    expect(written()).toBe('\u001b[H\u001b[Ka full line\n\u001b[Ksecond')
  })

  it('that is shorter than the terminal erases what stands below', () => {
    const { stdout, written } = terminal(3)
    openCanvas(stdout).stream.write(`${clearTerminal}one`)
    expect(written()).toBe('\u001b[H\u001b[Kone\n\u001b[J')
  })

  it('that comes when the screen was left is not drawn', () => {
    const { stdout, written } = terminal(2)
    const canvas = openCanvas(stdout)
    canvas.close()
    expect(canvas.stream.write('late')).toBe(true)
    expect(written()).toBe('')
  })

  it('is drawn on a terminal that does not know its size as on one of 80 by 24', () => {
    const { stdout, written } = terminal(0)
    Object.assign(stdout, { columns: 0 })
    const { stream } = openCanvas(stdout)
    expect([stream.columns, stream.rows]).toEqual([80, 24])
    stream.write(`${clearTerminal}one`)
    expect(written()).toBe('\u001b[H\u001b[Kone\n\u001b[J')
  })

  it('leaves anything else as it is', () => {
    const { stdout, written } = terminal(2)
    const { stream } = openCanvas(stdout)
    expect([stream.columns, stream.isTTY]).toEqual([20, true])
    stream.write('\u001b[?25l')
    expect(written()).toBe('\u001b[?25l')
  })
})
