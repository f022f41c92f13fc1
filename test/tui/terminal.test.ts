import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import type { ReadStream, WriteStream } from 'node:tty'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Terminal } from '../../src/tui/terminal.js'

interface Fake {
  readonly terminal: Terminal
  readonly stdin: PassThrough
  /** Whether keys come one by one. */
  readonly raw: () => boolean
  /** From here on it is no terminal any more. */
  readonly hangUp: () => void
  readonly written: () => string
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
  const stdout = Object.assign(new PassThrough(), { columns, rows })
  let written = ''
  stdout.on('data', (chunk) => (written += String(chunk)))
  const terminal = new Terminal(stdin as unknown as ReadStream, stdout as unknown as WriteStream)
  return { terminal, stdin, raw: () => raw, hangUp: () => (isThere = false), written: () => written }
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
    ['leaves no file', { EDITOR: 'rm -f' }, /^the editor failed: ENOENT/],
    ['cannot start', { EDITOR: 'wiretape-no-such-editor 2>/dev/null' }, /ended with status 127$/],
    ['has nowhere to put its file', { TMPDIR: '/nonexistent/folder' }, /^the editor failed: ENOENT/],
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

describe('a terminal that closes while its user has an editor open', () => {
  let folder: string
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'wiretape-editor-'))
    vi.stubEnv('VISUAL', '')
    vi.stubEnv('TMPDIR', folder)
  })
  afterEach(() => {
    vi.unstubAllEnvs()
    rmSync(folder, { recursive: true })
  })

  /** An editor that stays open once it has done this with its file. */
  function editor(does: string): void {
    const path = join(folder, 'editor')
    const lines = ['#!/bin/sh', does, `touch '${join(folder, 'opened')}'`, 'exec sleep 600']
    writeFileSync(path, lines.join('\n'), { mode: 0o700 })
    vi.stubEnv('EDITOR', `${path} --wait`)
  }

  it('ends it, and leaves what was typed', async () => {
    editor('echo typed > "$2"')
    const { terminal, raw } = open()
    const edited = terminal.edit('{}')
    await expect.poll(() => existsSync(join(folder, 'opened')), { timeout: 30_000 }).toBe(true)
    terminal.close()
    const outcome = await edited
    expect(outcome).toEqual({ fault: expect.stringContaining('SIGTERM'), kept: expect.any(String) })
    const { kept } = outcome as { kept: string }
    expect(readFileSync(join(kept, 'message.json'), 'utf8')).toBe('typed\n')
    expect(raw()).toBe(false)
  })

  it('leaves nothing where nothing was typed', async () => {
    editor(':')
    const { terminal } = open()
    const edited = terminal.edit('{}')
    await expect.poll(() => existsSync(join(folder, 'opened')), { timeout: 30_000 }).toBe(true)
    terminal.close()
    expect(await edited).toEqual({ fault: expect.stringContaining('SIGTERM') })
    expect(readdirSync(folder).toSorted()).toEqual(['editor', 'opened'])
  })
})

describe('a terminal that a shell had while we were stopped', () => {
  it('is taken again, and says that nothing of ours stands on it', () => {
    const { terminal, stdin, raw, written } = open()
    const back = vi.fn<() => void>()
    const keys: string[] = []
    terminal.onBack(back)
    terminal.onKey(({ name }) => keys.push(name))
    const before = written().length
    process.emit('SIGCONT')
    expect(back).toHaveBeenCalledOnce()
    expect(raw()).toBe(true)
    expect(written().slice(before)).toMatch(/\u001b\[\?1049l.*\u001b\[\?1049h/s)
    stdin.emit('data', 'q')
    expect(keys).toEqual(['q'])
    terminal.close()
    expect([process.listenerCount('SIGCONT'), process.listenerCount('SIGTSTP')]).toEqual([0, 0])
  })
})

describe('a terminal that does not know its size', () => {
  it('has 80 columns and 24 lines', () => {
    const { terminal } = open(0, 0)
    expect([terminal.columns, terminal.rows]).toEqual([80, 24])
    terminal.close()
  })
})
