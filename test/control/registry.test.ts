import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { liveCaptures, registerCapture } from '../../src/control/index.js'

let root: string
let folder: string
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'wiretape-registry-'))
  folder = join(root, 'live')
  mkdirSync(folder, { mode: 0o700 })
})
afterEach(() => {
  vi.useRealTimers()
  rmSync(root, { recursive: true, force: true })
})

const capture = (session: string, startedAt = '2026-03-01T10:00:00.000Z') => ({
  session,
  label: 'a label',
  tape: `/tapes/${session}.jsonl`,
  startedAt,
})

describe('the registry of live captures', () => {
  it('knows a capture until it is closed, and keeps others from reading about it', async () => {
    const registration = registerCapture(folder, capture('one'))
    expect(await liveCaptures(folder)).toEqual([
      expect.objectContaining({ ...capture('one'), pid: process.pid }),
    ])
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(statSync(join(folder, 'one.json')).mode & 0o777).toBe(0o600)
    registration.close()
    registration.close()
    expect(await liveCaptures(folder)).toEqual([])
    expect(readdirSync(folder)).toEqual([])
  })

  it('lists captures by their start', async () => {
    registerCapture(folder, capture('late', '2026-03-01T11:00:00.000Z'))
    registerCapture(folder, capture('early', '2026-03-01T09:00:00.000Z'))
    expect((await liveCaptures(folder)).map(({ session }) => session)).toEqual(['early', 'late'])
  })

  it('removes the entry of a process that is gone', async () => {
    const child = spawn(process.execPath, ['-e', ''])
    const pid = child.pid!
    await once(child, 'exit')
    registerCapture(folder, capture('gone'))
    writeFileSync(join(folder, 'gone.json'), JSON.stringify({ ...capture('gone'), pid, processStart: null }))
    expect(await liveCaptures(folder)).toEqual([])
    expect(readdirSync(folder)).toEqual([])
  })

  it('knows a capture on another machine with the same data folder until its entry is no longer touched', async () => {
    const path = join(folder, 'far.json')
    const far = { ...capture('far'), pid: 2 ** 22, processStart: '1', machine: 'another host' }
    writeFileSync(path, JSON.stringify(far))
    expect(await liveCaptures(folder)).toEqual([far])
    expect(readdirSync(folder)).toEqual(['far.json'])
    const anHourAgo = new Date(Date.now() - 3_600_000)
    utimesSync(path, anHourAgo, anHourAgo)
    expect(await liveCaptures(folder)).toEqual([])
    expect(readdirSync(folder)).toEqual([])
  })

  it('writes an entry again that another machine removed, with its socket, until it is closed', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const registration = registerCapture(folder, capture('one'))
    registration.listens('/run/one.sock')
    const path = join(folder, 'one.json')
    rmSync(path)
    vi.advanceTimersByTime(600_000)
    expect(await liveCaptures(folder)).toEqual([
      expect.objectContaining({ ...capture('one'), socket: '/run/one.sock' }),
    ])
    registration.close()
    vi.advanceTimersByTime(600_000)
    expect(readdirSync(folder)).toEqual([])
  })

  it('leaves files alone that it does not understand', async () => {
    registerCapture(folder, capture('one')).close()
    const strange = ['half.json', 'null.json', 'notes.txt']
    for (const name of strange) writeFileSync(join(folder, name), name === 'null.json' ? 'null' : '{"pid":')
    expect(await liveCaptures(folder)).toEqual([])
    expect(readdirSync(folder).toSorted()).toEqual(strange.toSorted())
  })

  it('never stops a recording: a folder that is not there is no error', async () => {
    rmSync(folder, { recursive: true })
    registerCapture(folder, capture('one')).close()
    expect(await liveCaptures(folder)).toEqual([])
    expect(existsSync(folder)).toBe(false)
  })
})
