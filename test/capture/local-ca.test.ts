import { X509Certificate } from 'node:crypto'
import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createLeafCertificates, makeAuthority } from '../../src/capture/trust/certificates.js'
import { openLocalCa } from '../../src/capture/trust/local-ca.js'
import { writeBundle } from '../../src/capture/trust/trusted-roots.js'
import { WiretapeError } from '../../src/model/index.js'

const dayMs = 24 * 60 * 60 * 1000
let parent: string
let folder: string
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'wiretape-ca-'))
  folder = join(parent, 'ca')
})
afterEach(() => {
  chmodSync(parent, 0o700)
  rmSync(parent, { recursive: true, force: true })
})

const modeOf = (path: string): number => statSync(path).mode & 0o777
const keyPath = (): string => join(folder, 'ca-key.pem')

describe('the certificate authority', () => {
  it('is made on first use, for its owner only, and is the same the next time', async () => {
    const made = await openLocalCa(folder)
    expect(made.notice).toBeUndefined()
    expect([modeOf(folder), modeOf(keyPath())]).toEqual([0o700, 0o600])
    expect(readFileSync(made.path, 'utf8')).toBe(made.certificate)
    expect(readFileSync(made.path, 'utf8')).not.toContain('PRIVATE')
    const { ca, publicKey } = new X509Certificate(made.certificate)
    expect([ca, publicKey.asymmetricKeyDetails?.namedCurve]).toEqual([true, 'prime256v1'])
    expect(await openLocalCa(folder)).toEqual(made)
  })

  it('is one, however many make it at the same time, and leaves no drafts', async () => {
    const made = await Promise.all(Array.from({ length: 8 }, () => openLocalCa(folder)))
    expect(new Set(made.map(({ certificate }) => certificate)).size).toBe(1)
    expect(readdirSync(folder).toSorted()).toEqual(['ca-key.pem', 'ca.pem'])
  })

  it.each([
    ['has expired', 91, /had expired: a new certificate authority was created/],
    ['is about to', 85, /was about to expire/],
  ])('is renewed when it %s, and that is said', async (_, days, words) => {
    const old = await makeAuthority(new Date(Date.now() - days * dayMs))
    await openLocalCa(folder)
    writeFileSync(keyPath(), old.key + old.certificate, { mode: 0o600 })
    const renewed = await openLocalCa(folder)
    expect(renewed.notice).toMatch(words)
    expect(renewed.certificate).not.toBe(old.certificate)
    expect(Date.parse(new X509Certificate(renewed.certificate).validTo)).toBeGreaterThan(
      Date.now() + 80 * dayMs,
    )
    expect((await openLocalCa(folder)).notice).toBeUndefined()
  })

  it('is not believed any more when others could read its key', async () => {
    const { certificate } = await openLocalCa(folder)
    chmodSync(keyPath(), 0o644)
    const renewed = await openLocalCa(folder)
    expect(renewed.notice).toMatch(/other users could read the key/)
    expect(renewed.certificate).not.toBe(certificate)
    expect(modeOf(keyPath())).toBe(0o600)
  })

  it.each([
    ['no PEM', () => 'x'],
    ['half of it', (text: string) => text.slice(0, text.length - 100)],
  ])('is not guessed at when its file holds %s', async (_, spoil) => {
    await openLocalCa(folder)
    writeFileSync(keyPath(), spoil(readFileSync(keyPath(), 'utf8')))
    const error: unknown = await openLocalCa(folder).catch((reason: unknown) => reason)
    expect(error).toBeInstanceOf(WiretapeError)
    expect(error).toMatchObject({
      code: 'unreadable',
      hint: 'delete the file; wiretape then creates a new one',
    })
  })

  it('says where it cannot be kept', async () => {
    writeFileSync(folder, 'a file is here')
    await expect(openLocalCa(folder)).rejects.toThrow(
      /cannot keep a certificate authority in .*a file has that name/,
    )
  })
})

describe('certificates of servers', () => {
  it('are signed by it, for a name or an address, once a run', async () => {
    const authority = await openLocalCa(folder)
    const issuer = new X509Certificate(authority.certificate)
    const leaves = createLeafCertificates(authority)
    for (const name of ['example.com', '127.0.0.1', '::1', `${'a'.repeat(60)}.${'b'.repeat(60)}.example`]) {
      const leaf = await leaves.of(name)
      const certificate = new X509Certificate(leaf.certificate)
      expect(certificate.verify(issuer.publicKey) && certificate.checkIssued(issuer)).toBe(true)
      expect(
        name.includes(':') || /^[\d.]+$/.test(name) ? certificate.checkIP(name) : certificate.checkHost(name),
      ).toBe(name)
      expect(certificate.ca).toBe(false)
      expect(Date.parse(certificate.validTo)).toBeLessThanOrEqual(Date.parse(issuer.validTo))
      expect(await leaves.of(name)).toBe(leaf)
    }
  })
})

describe('a bundle of roots', () => {
  it('has a name of its own for each content, and old ones go', async () => {
    const { certificate } = await openLocalCa(folder)
    const first = writeBundle(folder, ['a\n\n', '', certificate])
    expect(readFileSync(first, 'utf8')).toBe(`a\n${certificate}`)
    expect(writeBundle(folder, ['a', certificate])).toBe(first)
    expect(writeBundle(folder, ['b', certificate])).not.toBe(first)
  })
})
