import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { array, assert, asyncProperty, constantFrom, option, record, integer } from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { forbids, loadPolicy, matches, parsePolicy, type PolicyInForce } from '../../src/policy/index.js'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

function file(text: string, mode = 0o644): string {
  const folder = mkdtempSync(join(tmpdir(), 'wiretape-policy-'))
  folders.push(folder)
  const path = join(folder, 'policy.yaml')
  writeFileSync(path, text)
  chmodSync(path, mode)
  return path
}

const missing = '/nonexistent/policy.yaml'
const full = `version: 1
record:
  servers: ["github*", "https://mcp.example.com/*"]
  clients: [cursor]
redaction:
  patterns: ['ACME-\\d+']
retention: { age: 30d, size: 5GB }
quota: 2GB
ship:
  to: s3://tapes/team-a
  seal: { size: 64MB, after: 1h }
  compression: gzip
  nats: { creds: /etc/wiretape/nats.creds }
consent: This session is recorded.
`

function faultsOf(text: string): string[] {
  return parsePolicy('p', text).diagnostics.map(({ at, message }) => `${at?.line}: ${message}`)
}

describe('a policy', () => {
  it('is read with the place of every setting', () => {
    const { policy, diagnostics } = parsePolicy('p.yaml', full)
    expect(diagnostics).toEqual([])
    expect(policy).toMatchObject({
      record: [{ from: { file: 'p.yaml', line: 2 } }],
      redact: [{ value: 'ACME-\\d+', from: { line: 6 } }],
      retentionAgeMs: { value: 30 * 86_400_000, from: { line: 7 } },
      retentionBytes: { value: 5e9 },
      quotaBytes: { value: 2e9, from: { line: 8 } },
      shipTo: { value: 's3://tapes/team-a', from: { line: 10 } },
      sealBytes: { value: 64e6 },
      sealAfterMs: { value: 3_600_000, from: { line: 11 } },
      consent: [{ value: 'This session is recorded.' }],
    })
  })

  it('is refused with the line of the fault', () => {
    expect(faultsOf('version: 2')).toEqual(['1: the policy must have version: 1'])
    expect(faultsOf('version: 1\nrecrod: none')).toEqual([
      expect.stringMatching(/^2: .*did you mean record\?/),
    ])
    expect(faultsOf('version: 1\nrecord: some')[0]).toMatch(/^2: record must be all, none/)
    expect(faultsOf('version: 1\nquota: lots')[0]).toMatch(/^2: quota must be a size/)
    expect(faultsOf('version: 1\nship:\n  to: tapes')[0]).toMatch(/^3: to must be an absolute path/)
    expect(faultsOf('version: 1\nship:\n  to: nats://me:pw@bus')[0]).toMatch(/must not contain credentials/)
    const seed = `SU${'A2B7'.repeat(14)}`
    expect(faultsOf(`version: 1\nship:\n  nats: { nkey: ${seed} }`)).toEqual([
      '3: nkey must be the absolute path of a file',
    ])
    expect(faultsOf('version: 1\nredaction:\n  defaults: false')[0]).toMatch(/^3: redaction has "defaults"/)
    expect(faultsOf('[1]')).toHaveLength(1)
    expect(faultsOf('')).toHaveLength(1)
  })

  it('forbids what no pattern of its lists matches', () => {
    const { policy } = parsePolicy('p', full)
    const subject = { label: 'github-mcp', command: ['node', 'x.js'], url: null }
    expect(forbids(policy, { ...subject, client: 'cursor' })).toBeUndefined()
    expect(forbids(policy, subject)).toBeDefined()
    expect(forbids(policy, { ...subject, client: 'other' })).toBeDefined()
    expect(forbids(policy, { ...subject, label: 'files', client: 'cursor' })).toBeDefined()
    const remote = { label: 'x', command: [], url: 'https://mcp.example.com/a', client: 'cursor' }
    expect(forbids(policy, remote)).toBeUndefined()
  })

  it('matches patterns as a regular expression would', async () => {
    const letters = array(constantFrom('a', 'b', '*'), { maxLength: 8 })
    await assert(
      asyncProperty(letters, letters, (pattern, text) => {
        const plain = text.join('').replaceAll('*', 'c')
        const expression = new RegExp(`^${pattern.map((one) => (one === '*' ? '.*' : one)).join('')}$`)
        expect(matches(pattern.join(''), plain)).toBe(expression.test(plain))
        return Promise.resolve()
      }),
    )
  })
})

async function load(system: string, own?: string): Promise<PolicyInForce> {
  return loadPolicy({ system, ...(own !== undefined && { own }) })
}

describe('the policy in force', () => {
  it('is none where no file is, and fails closed where one cannot be used', async () => {
    expect(await load(missing)).toEqual({ kind: 'none' })
    expect(await load(missing, missing)).toMatchObject({ kind: 'broken' })
    expect(await load(file('version: 1\nrecord: [')).then(({ kind }) => kind)).toBe('broken')
    expect(await load(file(full), missing)).toMatchObject({ kind: 'broken' })
    expect(await load(tmpdir())).toMatchObject({
      kind: 'broken',
      why: expect.stringContaining('regular file'),
    })
    expect(await load(file(`version: 1\nredaction:\n  patterns: ['(']`))).toMatchObject({
      kind: 'broken',
      why: expect.stringContaining('line 3'),
    })
  })

  it('names each fault of both files, and the first one in the line for recorders', async () => {
    const system = file(`version: 1\nredaction: { patterns: ['('] }\nquota: lots\nrecrod: none`)
    const inForce = await load(system, missing)
    if (inForce.kind !== 'broken') throw new Error(inForce.kind)
    expect(inForce.faults.map(({ file: path, line }) => [path, line])).toEqual([
      [system, 2],
      [system, 3],
      [system, 4],
      [missing, null],
    ])
    expect(inForce.why).toMatch(
      /^the policy \S+ is invalid, line 2: the pattern "\(" is not a regular expression: .* \(and 3 more: see wiretape status --policy\)$/,
    )
  })

  it.skipIf(process.platform === 'win32')('is not a file that others can write', async () => {
    expect(await load(file(full, 0o666))).toMatchObject({
      kind: 'broken',
      why: expect.stringContaining('every user can write to it'),
    })
  })

  it('is the stricter of two for each setting, and only the first says where segments go', async () => {
    const choice = record({
      quota: option(integer({ min: 1, max: 9 })),
      age: option(integer({ min: 1, max: 9 })),
      record: option(constantFrom('all', 'none')),
      to: option(constantFrom('/a', '/b')),
    })
    type One = Readonly<Record<'quota' | 'age' | 'record' | 'to', string | number | null>>
    const textOf = (one: One): string =>
      [
        'version: 1',
        ...(one.quota === null ? [] : [`quota: ${one.quota}GB`]),
        ...(one.age === null ? [] : [`retention: { age: ${one.age}d }`]),
        ...(one.record === null ? [] : [`record: ${one.record}`]),
        ...(one.to === null ? [] : [`ship: { to: ${one.to} }`]),
      ].join('\n')
    const least = (a: number | null, b: number | null): number | undefined =>
      a === null ? (b ?? undefined) : b === null ? a : Math.min(a, b)
    await assert(
      asyncProperty(choice, choice, async (system, own) => {
        const inForce = await load(file(textOf(system)), file(textOf(own)))
        if (inForce.kind !== 'policy') throw new Error(inForce.kind)
        const { quotaBytes, retentionAgeMs, shipTo } = inForce.policy
        const quota = least(system.quota, own.quota)
        expect(quotaBytes?.value).toBe(quota && quota * 1e9)
        const age = least(system.age, own.age)
        expect(retentionAgeMs?.value).toBe(age && age * 86_400_000)
        expect(shipTo?.value).toBe(system.to ?? undefined)
        const isForbidden = forbids(inForce.policy, { label: '', command: [], url: null }) !== undefined
        expect(isForbidden).toBe(system.record === 'none' || own.record === 'none')
      }),
      { numRuns: 30 },
    )
  })
})
