import { execFileSync, spawn } from 'node:child_process'
import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  mkdtempSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadRules } from '../../../src/intercept/index.js'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wiretape-rules-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const faults: Record<string, { readonly make: (path: string) => void; readonly says: string }> = {
  'a pipe that nobody writes to': {
    make: (path) => void execFileSync('mkfifo', [path]),
    says: 'it is a pipe without a writer',
  },
  'a folder': { make: (path) => mkdirSync(path), says: 'it is a folder' },
  'a huge file': {
    make: (path) => {
      writeFileSync(path, '')
      truncateSync(path, 40_000_000_000)
    },
    says: 'is larger than 64 MB',
  },
  'what is no text': { make: (path) => writeFileSync(path, Buffer.of(0xff)), says: 'it is not UTF-8' },
}

describe.skipIf(process.platform === 'win32')('a rules file', () => {
  it.each(Object.entries(faults))('that is %s is a fault in words', async (_, { make, says }) => {
    const path = join(folder, 'odd')
    make(path)
    const { diagnostics } = await loadRules(path)
    expect(diagnostics).toMatchObject([{ code: 'unreadable', message: `cannot be read: ${says}` }])
    writeFileSync(join(folder, 'rules.yaml'), `rules: [{ name: a, when: '', respond: { file: odd } }]`)
    const named = await loadRules(join(folder, 'rules.yaml'))
    expect(named.parsed).toBeUndefined()
    expect(named.diagnostics).toMatchObject([{ message: expect.stringContaining(`file odd: ${says}`) }])
  })

  it('may be a pipe, whose writer is slow', async () => {
    const path = join(folder, 'pipe')
    execFileSync('mkfifo', [path])
    const writer = spawn('sh', [
      '-c',
      'exec > "$0"; sleep 0.1; echo "rules: [{ name: a, when: \\"\\", drop: true }]"',
      path,
    ])
    const ended = new Promise((done) => writer.once('close', done))
    const keeper = openSync(path, constants.O_RDWR)
    try {
      const loading = loadRules(path)
      await ended
      closeSync(keeper)
      expect((await loading).described).toMatchObject([{ name: 'a' }])
    } finally {
      writer.kill()
    }
  })

  it.each([
    ['/dev/zero', 'it is not a file'],
    ['a\0b', 'the file name is invalid'],
    ['none', 'no such file'],
  ])('%j is a fault in words', async (path, says) => {
    expect((await loadRules(path)).diagnostics).toMatchObject([{ message: `cannot be read: ${says}` }])
  })
})
