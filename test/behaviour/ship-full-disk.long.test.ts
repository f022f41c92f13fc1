/** A data folder on a full disk: no shipped message is lost, no unshipped one is deleted, and shipping makes room. */
import { spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { leftOut, plainEnv, wiretape } from './run-cli.js'

let folder: string
let data: string
function mountSmallDisk(): boolean {
  folder = mkdtempSync(join(tmpdir(), 'wiretape-full-'))
  data = join(folder, 'data')
  mkdirSync(data)
  return spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=2m', 'tmpfs', data]).status === 0
}
function remove(): void {
  spawnSync('umount', ['-l', data])
  rmSync(folder, { recursive: true, force: true })
}
const canMount = mountSmallDisk()
remove()

const names = (): string[] =>
  readdirSync(join(data, 'wiretape/recordings')).filter((name) => name.endsWith('.jsonl'))
const tapeHashes = (): string[] =>
  names().map((name) => hashOf(readFileSync(join(data, 'wiretape/recordings', name))))

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** Hashes of the unpacked segments of the store; these are their names. */
function storedHashes(store: string): string[] {
  return readdirSync(store, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.jsonl.gz'))
    .map((name) => {
      const hash = hashOf(gunzipSync(readFileSync(join(store, name))))
      expect(name).toContain(hash)
      return hash
    })
}

/** More data than the disk holds, which does not compress well. */
function flood(): string {
  const messages = Array.from({ length: 8_000 }, (_, i) =>
    JSON.stringify({ jsonrpc: '2.0', method: `m${i}`, params: { pad: randomBytes(150).toString('base64') } }),
  )
  return `${messages.join('\n')}\n`
}

describe.skipIf(leftOut(canMount, 'the tests of shipping from a full disk, which mount a small one'))(
  'a data folder on a disk that is full',
  () => {
    beforeEach(() => {
      expect(mountSmallDisk()).toBe(true)
    })
    afterEach(remove)

    it('is shipped, and its shipped segments make room for new ones under a quota', async () => {
      const store = join(folder, 'store')
      const policy = join(folder, 'policy.yaml')
      writeFileSync(policy, `version: 1\nquota: 10MB\nship: { to: ${store}, seal: { size: 300kB } }\n`)
      const env = plainEnv({ XDG_DATA_HOME: data, WIRETAPE_POLICY: policy })
      const record = () => wiretape(['record', '--', 'cat'], { env, input })
      const input = flood()

      const first = await record()
      expect(first.stdout === input).toBe(true)
      expect(first.stderr).toMatch(
        /^wiretape: disk full: recording stops [^\n]+\nwiretape: [\d,]+ messages passed unrecorded: disk full [^\n]+\n$/,
      )
      const tapes = tapeHashes()
      expect(tapes.length).toBeGreaterThan(3)

      const shipped = await wiretape(['ship', '--once'], { env })
      expect(shipped.stderr).toBe('')
      expect(shipped.code).toBe(0)
      expect(storedHashes(store).toSorted()).toEqual(tapes.toSorted())
      expect(readdirSync(join(data, 'wiretape/outgoing'))).toEqual([])

      // A smaller quota deletes shipped recordings; the next recording has room, and stays until it is shipped.
      writeFileSync(policy, `version: 1\nquota: 600kB\nship: { to: ${store}, seal: { size: 300kB } }\n`)
      const second = await record()
      expect(second.stdout === input).toBe(true)
      expect(second.stderr).toContain('recording stops until there is room, all messages pass\n')
      const unshipped = tapeHashes().filter((hash) => !tapes.includes(hash))
      expect(unshipped.length).toBeGreaterThan(0)
      expect((await wiretape(['ship', '--once'], { env })).code).toBe(0)
      expect(storedHashes(store).toSorted()).toEqual([...tapes, ...unshipped].toSorted())
    })
  },
)
