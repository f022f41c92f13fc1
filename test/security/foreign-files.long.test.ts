/** Folders and links that another user has placed where wiretape writes. */
import { spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  lchownSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import type { AddressInfo } from 'node:net'
import tls from 'node:tls'
import { describe, expect, it } from 'vitest'
import { leftOut, type Run, wiretapeIn } from '../behaviour/run-cli.js'
import { server, useStage } from '../behaviour/stage.js'
import { createLeafCertificates } from '../../src/capture/trust/certificates.js'
import { authorityFolder, openLocalCa } from '../../src/capture/trust/local-ca.js'
import { hasStranger, strangerUid } from './users.js'

const stage = useStage()

const hasRights = !leftOut(process.platform !== 'win32', 'rights of files need a POSIX system')
const cli = wiretapeIn(stage)
const record = (...options: string[]): Promise<Run> =>
  cli('record', '--out', stage.out, ...options, '--', ...server('exit-with.mjs', '0'))
const forward = (folder: string): Promise<Run> =>
  cli('record', '--forward', '--out', stage.out, '--ca-dir', folder, '--', process.execPath, '-e', '')

describe.skipIf(!hasRights)('the certificate authority', () => {
  it('is not kept in a folder that every user can write, nor below one', async () => {
    mkdirSync(stage.path('open'))
    chmodSync(stage.path('open'), 0o777)
    for (const folder of ['open', 'open/ca']) {
      const { code, stderr } = await forward(stage.path(folder))
      expect(code).toBe(1)
      expect(stderr).toMatch(/cannot keep a certificate authority in .*every user can write to it/)
    }
    expect(existsSync(stage.path('open/ca-key.pem'))).toBe(false)
  })

  it.skipIf(!hasStranger)("is not kept in another user's folder, nor below one", async () => {
    mkdirSync(stage.path('theirs/ca'), { recursive: true, mode: 0o700 })
    chownSync(stage.path('theirs'), strangerUid, strangerUid)
    symlinkSync(stage.path('theirs'), stage.path('link'))
    for (const folder of ['theirs', 'theirs/ca', 'link']) {
      const { code, stderr } = await forward(stage.path(folder))
      expect(code).toBe(1)
      expect(stderr).toContain(`it belongs to another user (uid ${strangerUid})`)
      expect(stderr).toContain('choose a folder of your own with --ca-dir')
    }
    expect(readdirSync(stage.path('theirs'))).toEqual(['ca'])
  })
})

describe('an authority for known hosts', () => {
  const hosts = ['mcp.example', '127.0.0.1']

  /** Whether a client that trusts the authority believes its certificate for a name. */
  async function believes(
    authority: Awaited<ReturnType<typeof openLocalCa>>,
    name: string,
  ): Promise<boolean> {
    const { key, certificate } = await createLeafCertificates(authority).of(name)
    const listener = tls.createServer({ key, cert: certificate })
    await new Promise<void>((done) => listener.listen(0, '127.0.0.1', done))
    const { port } = listener.address() as AddressInfo
    const socket = tls.connect({
      port,
      host: '127.0.0.1',
      ca: authority.certificate,
      checkServerIdentity: () => undefined,
    })
    const believed = await new Promise<boolean>((done) => {
      socket.once('secureConnect', () => done(true))
      socket.once('error', () => done(false))
    })
    socket.destroy()
    await new Promise((done) => listener.close(done))
    return believed
  }

  it('vouches for these and what is below them, and for nothing else', async () => {
    const authority = await openLocalCa(authorityFolder(stage.path('ca'), hosts), hosts)
    for (const [name, expected] of [
      ['mcp.example', true],
      ['a.mcp.example', true],
      ['127.0.0.1', true],
      ['evil.example', false],
      ['xmcp.example', false],
      ['127.0.0.2', false],
      ['::1', false],
    ] as const)
      expect([name, await believes(authority, name)]).toEqual([name, expected])
  })

  it.each([
    ['addresses, where only names are known', ['mcp.example'], '127.0.0.1'],
    ['IPv6 addresses, where only names are known', ['mcp.example'], '::1'],
    ['names, where only addresses are known', ['::1'], 'mcp.example'],
  ])('does not vouch for %s', async (_, known, other) => {
    const authority = await openLocalCa(stage.path('ca'), known)
    expect(await believes(authority, known[0]!)).toBe(true)
    expect(await believes(authority, other)).toBe(false)
  })

  it('reads as the standard has it', async () => {
    const { path } = await openLocalCa(stage.path('ca'), hosts)
    const { stdout, error } = spawnSync('openssl', ['x509', '-in', path, '-noout', '-text'], {
      encoding: 'utf8',
    })
    if (leftOut(error === undefined, 'openssl is not there')) return
    expect(stdout).toMatch(
      /X509v3 Name Constraints: critical\s+Permitted:\s+DNS:mcp\.example\s+IP:127\.0\.0\.1\/255\.255\.255\.255/,
    )
  })

  it('stands apart from the one for all, and is the same the next time', async () => {
    const folder = authorityFolder(stage.path('ca'), hosts)
    expect(folder).not.toBe(stage.path('ca'))
    expect(authorityFolder(stage.path('ca'), hosts.toReversed())).toBe(folder)
    const made = await openLocalCa(folder, hosts)
    expect(await openLocalCa(folder, hosts)).toEqual(made)
    const { validFrom, validTo } = new X509Certificate(made.certificate)
    expect((Date.parse(validTo) - Date.parse(validFrom)) / 86_400_000).toBeLessThan(92)
  })
})

describe.skipIf(!hasRights)('a session file', () => {
  it('is written through a link of our own', async () => {
    writeFileSync(stage.path('real.json'), '')
    symlinkSync(stage.path('real.json'), stage.path('s.json'))
    expect(await record('--session-file', 's.json')).toMatchObject({ code: 0 })
    expect(JSON.parse(readFileSync(stage.path('real.json'), 'utf8'))).toHaveProperty('messages')
  })

  it.skipIf(!hasStranger)(
    'is not written through a link of another user, whatever it leads over',
    async () => {
      writeFileSync(stage.path('victim'), 'precious')
      symlinkSync(stage.path('victim'), stage.path('theirs'))
      lchownSync(stage.path('theirs'), strangerUid, strangerUid)
      symlinkSync(stage.path('theirs'), stage.path('ours'))
      for (const name of ['theirs', 'ours']) {
        expect(await record('--session-file', name)).toMatchObject({
          code: 1,
          stderr: expect.stringMatching(/theirs is a link of another user/) as string,
        })
      }
      expect(readFileSync(stage.path('victim'), 'utf8')).toBe('precious')
    },
  )
})
