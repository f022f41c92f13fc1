import { PassThrough } from 'node:stream'
import type { ReadStream, WriteStream } from 'node:tty'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openTerminal, type Terminal } from '../../src/tui/terminal.js'

interface Fake {
  readonly terminal: Terminal
  readonly stdin: PassThrough
  /** Whether keys come one by one. */
  readonly raw: () => boolean
  /** From here on it is no terminal any more. */
  readonly hangUp: () => void
}

function open(columns = 80, rows = 24): Fake {
  let raw = false
  let isThere = true
  const stdin = Object.assign(new PassThrough(), {
    setRawMode(on: boolean) {
      if (!isThere) throw new Error('setRawMode EIO')
      raw = on
    },
  })
  const stdout = Object.assign(new PassThrough(), { columns, rows }).resume()
  const terminal = openTerminal(stdin as unknown as ReadStream, stdout as unknown as WriteStream)
  return { terminal, stdin, raw: () => raw, hangUp: () => (isThere = false) }
}

describe("a terminal that is lent to the user's editor", () => {
  beforeEach(() => {
    vi.stubEnv('VISUAL', '')
    vi.stubEnv('EDITOR', 'true')
  })
  afterEach(() => void vi.unstubAllEnvs())

  it('is taken back with what was saved', async () => {
    vi.stubEnv('EDITOR', `sh -c 'echo changed > "$1"' edit`)
    const { terminal, raw } = open()
    expect(await terminal.edit('{}')).toEqual({ text: 'changed' })
    expect(raw()).toBe(true)
    terminal.close()
  })

  it.each([
    ['leaves no file', { EDITOR: 'rm -f' }, /^the editor could not be used: ENOENT/],
    ['cannot start', { EDITOR: 'wiretape-no-such-editor 2>/dev/null' }, /ended with status 127$/],
    [
      'has nowhere to put its file',
      { TMPDIR: '/nonexistent/folder' },
      /^the editor could not be used: ENOENT/,
    ],
  ])('is taken back from one that %s, which is told', async (_, env, fault) => {
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
    const { terminal, raw } = open()
    expect(await terminal.edit('{}')).toEqual({ fault: expect.stringMatching(fault) })
    expect(raw()).toBe(true)
    terminal.close()
  })

  it('has the interrupts for itself meanwhile', async () => {
    const interrupted = (): void => undefined
    process.on('SIGINT', interrupted)
    const { terminal } = open()
    const edited = terminal.edit('{}')
    expect(process.listeners('SIGINT')).not.toContain(interrupted)
    expect(process.listenerCount('SIGINT')).toBe(1)
    await edited
    expect(process.listeners('SIGINT')).toContain(interrupted)
    process.off('SIGINT', interrupted)
    terminal.close()
  })

  it('and went away meanwhile is gone, and nothing fails', async () => {
    const { terminal, hangUp } = open()
    const gone = vi.fn<() => void>()
    terminal.onGone(gone)
    const edited = terminal.edit('{}')
    hangUp()
    await edited
    expect(gone).toHaveBeenCalledOnce()
    terminal.close()
  })
})

describe('a terminal that does not know its size', () => {
  it('has 80 columns and 24 lines', () => {
    const { terminal } = open(0, 0)
    expect([terminal.columns, terminal.rows]).toEqual([80, 24])
    terminal.close()
  })
})
