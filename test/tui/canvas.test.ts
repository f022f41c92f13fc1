import { PassThrough } from 'node:stream'
import type { WriteStream } from 'node:tty'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openCanvas, sizeOf, type Canvas } from '../../src/tui/canvas.js'
import type { Frame } from '../../src/tui/frame-lines.js'
import { span, type Line } from '../../src/tui/spans.js'

interface Stage {
  readonly canvas: Canvas
  readonly stdout: WriteStream
  readonly written: () => string
  /** Draws, and resolves with the written bytes. A frame soon after another one waits for its turn. */
  readonly drawn: (...lines: readonly (string | Line)[]) => Promise<string>
}

function stageOf({ rows = 3, colours = true, selected = -1 } = {}): Stage {
  const stdout = Object.assign(new PassThrough(), {
    rows,
    columns: 20,
    isTTY: true,
  }) as unknown as WriteStream
  const written = (): string => String((stdout.read() as Buffer | null) ?? '')
  const canvas = openCanvas(stdout, colours, (error) => {
    throw error
  })
  return {
    canvas,
    stdout,
    written,
    drawn: (...lines) =>
      new Promise((resolve) => {
        const frame: Frame = {
          lines: lines.map((line) => (typeof line === 'string' ? [span(line)] : line)),
          selected,
        }
        canvas.draw(() => {
          // Written as soon as this is made.
          queueMicrotask(() => resolve(written()))
          return frame
        })
      }),
  }
}

// The clock is stopped, so that frames follow soon after each other on a busy machine, too.
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

describe('a picture of the whole screen', () => {
  it('is drawn over the last one: nothing is wiped, least of all what has scrolled out', async () => {
    const { drawn } = stageOf({ rows: 2 })
    expect(await drawn('a full line', 'second')).toBe('\u001b[1H\u001b[Ka full line\u001b[2H\u001b[Ksecond')
  })

  it('that is shorter than the terminal erases what stands below', async () => {
    const { drawn } = stageOf()
    expect(await drawn('one')).toBe('\u001b[1H\u001b[Kone\u001b[2H\u001b[J')
  })

  it('that is longer than the terminal is cut', async () => {
    const { drawn } = stageOf({ rows: 1 })
    expect(await drawn('one', 'two')).toBe('\u001b[1H\u001b[Kone')
  })

  it('is drawn whole when a line changed, since another program may have scrolled it, and not at all when none did', async () => {
    const { drawn } = stageOf()
    await drawn('one', 'two')
    expect(await drawn('one', 'TWO')).toBe('\u001b[1H\u001b[Kone\u001b[2H\u001b[KTWO')
    expect(await drawn('one')).toBe('\u001b[1H\u001b[Kone\u001b[2H\u001b[J')
    expect(await drawn('one', '')).toBe('\u001b[1H\u001b[Kone\u001b[2H\u001b[K')
    expect(await drawn('one', '')).toBe('')
  })

  it('is drawn whole on a terminal that has another size now', async () => {
    const { drawn, stdout } = stageOf()
    await drawn('one')
    Object.assign(stdout, { columns: 21 })
    expect(await drawn('one')).toBe('\u001b[1H\u001b[Kone\u001b[2H\u001b[J')
  })

  it('is the last one of those that come at once', async () => {
    const { canvas, drawn } = stageOf()
    await drawn('one')
    let made = 0
    const make = (): Frame => {
      made += 1
      return { lines: [[span('never')]], selected: -1 }
    }
    canvas.draw(make)
    canvas.draw(make)
    expect(await drawn('two')).toBe('\u001b[1H\u001b[Ktwo')
    expect(made).toBe(0)
  })

  it('that comes when the screen was left is not drawn', async () => {
    const { canvas, drawn, written } = stageOf()
    await drawn('one')
    const late = (): never => {
      throw new Error('late')
    }
    canvas.draw(late)
    canvas.close()
    canvas.draw(late)
    await new Promise(setImmediate)
    expect(written()).toBe('')
  })

  it('says to its owner that it cannot be made', () => {
    const { stdout } = stageOf()
    const failures: unknown[] = []
    const fault = new Error('a fault of ours')
    const canvas = openCanvas(stdout, true, (error) => failures.push(error))
    canvas.draw(() => {
      throw fault
    })
    expect(failures).toEqual([fault])
  })

  it('is drawn on a terminal that does not know its size as on one of 80 by 24', () => {
    expect(sizeOf({ columns: 0, rows: 0 })).toEqual({ columns: 80, rows: 24 })
  })
})

describe('tones', () => {
  const line: Line = [span('a'), span('b', 'red'), span('c', 'dim'), span('d', 'bold'), span('e', 'inverse')]

  it('are colours and weights', async () => {
    expect(await stageOf({ rows: 1 }).drawn(line)).toBe(
      '\u001b[1H\u001b[Ka\u001b[31mb\u001b[m\u001b[2mc\u001b[m\u001b[1md\u001b[m\u001b[7me\u001b[m',
    )
  })

  it('are weights alone where no colours are wanted', async () => {
    expect(await stageOf({ rows: 1, colours: false }).drawn(line)).toBe(
      '\u001b[1H\u001b[Kabc\u001b[1md\u001b[m\u001b[7me\u001b[m',
    )
  })

  it('give way to the mark of a line', async () => {
    expect(await stageOf({ rows: 1, selected: 0 }).drawn(line)).toBe(
      '\u001b[1H\u001b[K\u001b[7ma\u001b[m\u001b[7mb\u001b[m\u001b[7mc\u001b[m\u001b[7;1md\u001b[m\u001b[7;7me\u001b[m',
    )
  })
})
