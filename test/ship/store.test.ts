import { chmodSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { bytesOf, openStore, parseStoreAddress } from '../../src/ship/index.js'

const folders: string[] = []
afterEach(() => {
  vi.restoreAllMocks()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'wiretape-store-'))
  folders.push(folder)
  return folder
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString()

describe('a folder as a store', () => {
  it('returns stored objects, whole and in part, and leaves no other files behind', async () => {
    const root = join(temporary(), 'store')
    const store = await openStore(root, {})
    expect(await store.head('segments/ab/a.json')).toBeUndefined()
    expect(await store.put('segments/ab/a.json', Buffer.from('hello world'))).toBe('stored')
    expect(text(await bytesOf(store.get('segments/ab/a.json')))).toBe('hello world')
    expect(text(await bytesOf(store.get('segments/ab/a.json', { at: 2, length: 3 })))).toBe('llo')
    expect(await store.head('segments/ab/a.json')).toEqual({ key: 'segments/ab/a.json', size: 11 })
    expect(readdirSync(join(root, 'segments', 'ab'))).toEqual(['a.json'])
  })

  it('keeps the first of many that put an object at once when asked to', async () => {
    const root = temporary()
    const store = await openStore(root, {})
    const file = join(temporary(), 'file')
    writeFileSync(file, 'from a file')
    const done = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        store.put('a', i === 7 ? { path: file, size: 11 } : Buffer.from(`${i}`), { ifAbsent: true }),
      ),
    )
    expect(done.filter((one) => one === 'stored')).toHaveLength(1)
    const kept = done.indexOf('stored')
    expect(text(await bytesOf(store.get('a')))).toBe(kept === 7 ? 'from a file' : `${kept}`)
    expect(readdirSync(root)).toEqual(['a'])
  })

  it('lists by prefix, without deleted objects', async () => {
    const store = await openStore(temporary(), {})
    for (const key of ['segments/ab/1.json', 'segments/ab/2.json', 'segments/cd/3.json', 'index/x'])
      await store.put(key, Buffer.from('x'))
    const keys = async (prefix: string): Promise<string[]> => {
      const found: string[] = []
      for await (const { key } of store.list(prefix)) found.push(key)
      return found.toSorted()
    }
    expect(await keys('segments/')).toEqual([
      'segments/ab/1.json',
      'segments/ab/2.json',
      'segments/cd/3.json',
    ])
    expect(await keys('segments/a')).toEqual(['segments/ab/1.json', 'segments/ab/2.json'])
    expect(await keys('none/')).toEqual([])
    expect(await keys('')).toHaveLength(4)
    await store.delete('segments/ab/1.json')
    await store.delete('segments/ab/1.json')
    expect(await keys('segments/a')).toEqual(['segments/ab/2.json'])
  })

  it.skipIf(process.platform === 'win32')(
    'is private, or shared with the group that may write to it',
    async () => {
      const modesIn = async (root: string): Promise<string[]> => {
        const store = await openStore(root, {})
        await store.put('segments/ab/1.json', Buffer.from('x'))
        return ['segments', 'segments/ab', 'segments/ab/1.json'].map((name) =>
          (statSync(join(root, name)).mode & 0o7777).toString(8),
        )
      }
      expect(await modesIn(join(temporary(), 'new'))).toEqual(['700', '700', '600'])
      const readable = temporary()
      chmodSync(readable, 0o755)
      expect(await modesIn(readable)).toEqual(['700', '700', '600'])
      const shared = temporary()
      chmodSync(shared, 0o2770)
      expect(await modesIn(shared)).toEqual(['2770', '2770', '660'])
      const own = temporary()
      chmodSync(own, 0o770)
      expect(await modesIn(own)).toEqual(['770', '770', '660'])
      if (process.platform === 'darwin') return
      // Without the setgid bit, new files do not belong to the group of the folder.
      vi.spyOn(process, 'getegid').mockReturnValue(process.getegid!() + 1)
      const foreign = temporary()
      chmodSync(foreign, 0o770)
      expect(await modesIn(foreign)).toEqual(['700', '700', '600'])
    },
  )

  it('refuses keys that lead out of it', async () => {
    const store = await openStore(temporary(), {})
    for (const key of ['../a', 'a/../../b', '/etc/x', '', 'a//b', '.part-1', 'a\\b'])
      await expect(store.put(key, Buffer.from('x'))).rejects.toMatchObject({ code: 'usage' })
  })

  it.runIf(existsSync('/proc/self'))(
    'that can never be made is refused, instead of being tried for ever',
    async () => {
      const store = await openStore('/proc/nowhere', {})
      await expect(store.put('a', Buffer.from('x'))).rejects.toMatchObject({
        code: 'unreachable',
        message: expect.stringMatching(/^cannot write to \/proc\/nowhere: /),
      })
    },
  )

  it('names an object that is missing', async () => {
    const store = await openStore(temporary(), {})
    await expect(bytesOf(store.get('nope'))).rejects.toMatchObject({ code: 'unreadable' })
  })
})

describe('the address of a store', () => {
  it('is a folder, a bucket of S3 or servers of NATS', () => {
    expect(parseStoreAddress('/a/b')).toEqual({ kind: 'folder', path: '/a/b' })
    expect(parseStoreAddress('s3://tapes/team/a/')).toEqual({ kind: 's3', bucket: 'tapes', prefix: 'team/a' })
    expect(parseStoreAddress('nats://a:4222,b')).toEqual({
      kind: 'jetstream',
      servers: ['nats://a:4222', 'nats://b'],
      bucket: 'wiretape-segments',
    })
    expect(parseStoreAddress('nats://a/other')).toMatchObject({ bucket: 'other' })
  })

  it('holds no credentials, and its refusal does not repeat them', () => {
    for (const address of ['nats://me:secret@host', 's3://KEY:secret@bucket', 'tls://secret@host/x']) {
      expect(() => parseStoreAddress(address)).toThrow(/must not contain credentials/)
      expect(() => parseStoreAddress(address)).not.toThrow(/secret/)
    }
  })

  it.each([
    ['NATS_NKEY', `SU${'A2B7'.repeat(14)}`],
    ['NATS_CREDS', `-----BEGIN NATS USER JWT-----\n${'secret'.repeat(5)}\n------END NATS USER JWT------`],
    ['NATS_CREDS', `eyJ0eXAiOiJKV1Qi${'secret'.repeat(5)}`],
    ['NATS_KEY', '-----BEGIN PRIVATE KEY-----secret'],
  ])(
    'takes %s as the name of a file, and never repeats a secret that was put there',
    async (name, secret) => {
      const opened = openStore('nats://127.0.0.1:1', { [name]: secret })
      await expect(opened).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining(name) })
      await expect(opened).rejects.not.toThrow(secret.slice(0, 12))
    },
  )

  it('needs keys of S3 in the environment', async () => {
    await expect(openStore('s3://tapes', {})).rejects.toMatchObject({
      code: 'usage',
      hint: expect.stringContaining('AWS_ACCESS_KEY_ID'),
    })
  })
})
