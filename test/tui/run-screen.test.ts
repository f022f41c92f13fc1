import { PassThrough } from 'node:stream'
import type { ReadStream, WriteStream } from 'node:tty'
import { describe, expect, it } from 'vitest'
import type { ServerEvent } from '../../src/control-schema/index.js'
import { runScreen } from '../../src/tui/index.js'
import { gate, hello } from './stage.js'

/** A terminal in memory. */
function terminal(): { stdin: ReadStream; stdout: WriteStream; raw: () => boolean; written: () => string } {
  let raw = false
  let written = ''
  const stdin = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (on: boolean) => void (raw = on),
    ref: () => undefined,
    unref: () => undefined,
  })
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns: 80, rows: 24 })
  stdout.on('data', (chunk) => (written += String(chunk)))
  return {
    stdin: stdin as unknown as ReadStream,
    stdout: stdout as unknown as WriteStream,
    raw: () => raw,
    written: () => written,
  }
}

describe('a screen', () => {
  it('that fails restores the terminal and prints the reason, and harms nothing else', async () => {
    async function* events(): AsyncGenerator<ServerEvent> {
      yield await Promise.resolve({ type: 'state', state: gate } as const)
      throw new Error('a fault of ours')
    }
    const { stdin, stdout, raw, written } = terminal()
    const link = { hello, events: events(), send: () => Promise.resolve({}), close: () => undefined }
    const shown = runScreen({ link, owner: true, colours: false, stdin, stdout })
    await expect(shown).rejects.toThrow('a fault of ours')
    expect(raw()).toBe(false)
    expect(written().endsWith('\u001b[?1049l')).toBe(true)
  })

  it('goes on when the editor fails, with a message', async () => {
    let end: (() => void) | undefined
    async function* events(): AsyncGenerator<ServerEvent> {
      yield { type: 'state', state: gate }
      yield { type: 'live' }
      await new Promise<void>((resolve) => (end = resolve))
    }
    const { stdin, stdout, written } = terminal()
    const link = { hello, events: events(), send: () => Promise.resolve({}), close: () => end?.() }
    process.env['VISUAL'] = 'rm -f'
    try {
      const shown = runScreen({ link, owner: false, colours: false, stdin, stdout })
      await expect.poll(written, { timeout: 30_000 }).toContain('live')
      stdin.push('c')
      stdin.push('\u000f')
      await expect.poll(written, { timeout: 30_000 }).toContain('the editor failed')
      stdin.push('\u0003')
      stdin.push('q')
      expect(await shown).toEqual({ reason: 'left', messages: 0 })
    } finally {
      delete process.env['VISUAL']
    }
  })
})
