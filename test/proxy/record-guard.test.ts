import { describe, expect, it } from 'vitest'
import type { HttpContext, SseContext, TapeClosing, TapeRecord } from '../../src/model/index.js'
import { createRecordGuard } from '../../src/proxy/record-guard.js'
import { Redactor } from '../../src/redaction/index.js'

/** Built here, so that no scanner takes it for a real one. */
const restart = { exitCode: 0, tookMs: 1, unanswered: 0, changed: ['tools/list'], fits: true } as const
const core = 'Q7canary4Zp8Wm2Xk6Vt9Bn3Lr5Hd1Jf0Gs'
const canary = `a ${'ghp_'.concat(core)} b`

/**
 * `guarded`: the guard redacts it. `earlier`: it was redacted where it arose, by structure or channel, and the guard
 * leaves it alone; test/behaviour/canary.test.ts looks for secrets there. `ours`: a peer or a person has no say in it.
 */
type Care = 'guarded' | 'earlier' | 'ours'
type Fields<T> = { readonly [Name in keyof T]-?: readonly [care: Care, sample: NonNullable<T[Name]>] }

const t = '2026-01-02T03:04:05.678Z'
const uuid = '11111111-1111-4111-8111-111111111111'
const headers = [[`x-${canary}`, canary]] as const

const sse: Fields<SseContext> = {
  event: ['guarded', canary],
  id: ['guarded', canary],
  retry: ['ours', 1],
}
const http: Fields<HttpContext> = {
  exchange: ['ours', 1],
  method: ['guarded', canary],
  path: ['guarded', canary],
  status: ['ours', 200],
  headers: ['guarded', headers],
  phases: ['ours', { dnsMs: 1, connectMs: 2, tlsMs: 3, waitMs: 4 }],
}
const closing: Fields<TapeClosing> = {
  messages: ['ours', 1],
  errors: ['ours', 1],
  rotated: ['ours', true],
  signal: ['ours', 'SIGTERM'],
  error: ['guarded', canary],
  redacted: ['guarded', [{ rule: canary, count: 1 }]],
  recovered: ['ours', true],
  extra: ['earlier', [['x', JSON.stringify(canary)]]],
}

const observed = { t: ['ours', t], us: ['ours', 1], extra: ['earlier', [['x', `"${canary}"`]]] } as const
const frame = {
  ...observed,
  direction: ['ours', 'client_to_server'],
  raw: ['earlier', JSON.stringify(canary)],
  red: ['earlier', [{ at: `/${canary}`, tag: 't' }]],
  value: ['earlier', canary],
  utf8: ['earlier', new TextEncoder().encode(canary)],
  batch: ['ours', false],
  parts: ['ours', []],
  seq: ['ours', 1],
  conversation: ['ours', 'c1'],
  http: ['guarded', sampleOf(http)],
  sse: ['guarded', sampleOf(sse)],
  entry: ['ours', 1],
  frameEnd: ['ours', 'crlf'],
  bytes: ['earlier', Buffer.from(canary).toString('base64')],
  rule: ['guarded', canary],
} as const
const line = {
  ...observed,
  text: ['earlier', canary],
  frameEnd: ['ours', 'none'],
  bytes: ['earlier', Buffer.from(canary).toString('base64')],
} as const

/** Every field of every record. A new field does not compile until this table says who redacts it. */
const records: { readonly [Type in TapeRecord['type']]: Fields<Extract<TapeRecord, { type: Type }>> } = {
  meta: {
    type: ['ours', 'meta'],
    t: ['ours', t],
    extra: observed.extra,
    startedAt: ['ours', t],
    label: ['earlier', canary],
    command: ['earlier', [canary]],
    mcpTapVersion: ['ours', 'wiretape 1'],
    wiretape: [
      'earlier',
      {
        version: '1',
        session: uuid,
        transport: 'stdio',
        url: canary,
        segment: 0,
        redaction: 'defaults',
        metadata: [['x', JSON.stringify(canary)]],
      },
    ],
    made: ['ours', true],
  },
  message: {
    ...frame,
    type: ['ours', 'message'],
    modified: ['ours', true],
    original: ['earlier', JSON.stringify(canary)],
    heldMs: ['ours', 1],
    injected: ['ours', true],
    untimed: ['ours', true],
  },
  held: { ...frame, type: ['ours', 'held'] },
  dropped: {
    ...observed,
    type: ['ours', 'dropped'],
    id: ['ours', uuid],
    why: ['guarded', canary],
    rule: ['guarded', canary],
  },
  note: {
    ...observed,
    type: ['ours', 'note'],
    text: ['guarded', canary],
    about: ['ours', uuid],
    restart: ['ours', restart],
  },
  noise: { ...line, type: ['ours', 'noise'], direction: ['ours', 'server_to_client'] },
  stderr: { ...line, type: ['ours', 'stderr'] },
  http: {
    ...observed,
    type: ['ours', 'http'],
    exchange: ['ours', 1],
    conversation: ['ours', 'c1'],
    method: ['guarded', canary],
    path: ['guarded', `/${canary}?x=${canary}`],
    requestHeaders: ['guarded', headers],
    requestBody: ['guarded', canary],
    status: ['ours', 200],
    headers: ['guarded', headers],
    phases: ['ours', { waitMs: 4 }],
    body: ['guarded', canary],
    bytes: ['earlier', Buffer.from(canary).toString('base64')],
    sizeBytes: ['ours', 1],
    sse: ['guarded', sampleOf(sse)],
    why: ['guarded', canary],
  },
  gap: {
    ...observed,
    type: ['ours', 'gap'],
    lost: ['ours', 1],
    lostStderr: ['ours', 1],
    lostBytes: ['ours', 1],
    why: ['guarded', canary],
    direction: ['ours', 'client_to_server'],
    sha256: ['ours', 'ab'],
  },
  undelivered: { ...observed, type: ['ours', 'undelivered'], id: ['ours', uuid], why: ['guarded', canary] },
  end: {
    type: ['ours', 'end'],
    t: ['ours', t],
    extra: observed.extra,
    exitCode: ['ours', 1],
    durationMs: ['ours', 1],
    wiretape: ['guarded', { ...sampleOf(closing), extra: [] }],
  },
  unknown: { type: ['ours', 'unknown'], name: ['earlier', canary], text: ['earlier', canary] },
}

function sampleOf<T>(fields: Fields<T>): T {
  const all = Object.entries<readonly [Care, unknown]>(fields)
  return Object.fromEntries(all.map(([name, [, sample]]) => [name, sample])) as T
}

const textOf = (value: unknown): string => JSON.stringify(value) ?? ''
const guard = createRecordGuard(new Redactor({ defaults: true, tag: () => 'tag' }))

describe.each(Object.entries(records))('a secret in a record of type %s', (_type, fields) => {
  const sample = sampleOf(fields as Fields<TapeRecord>)
  const before = structuredClone(sample) as unknown as Record<string, unknown>
  const after = guard.take(sample) as unknown as Record<string, unknown>

  it.each(Object.entries(fields))('in %s', (name, [care]) => {
    const text = textOf(after[name])
    if (care !== 'guarded') return expect(text).toBe(textOf(before[name]))
    expect(textOf(before[name])).toContain(core)
    expect(text).not.toContain(core)
    expect(text).toContain('[REDACTED]')
    // Nothing but secrets goes: another look finds nothing.
    expect(textOf((guard.take(structuredClone(after) as never) as unknown as typeof after)[name])).toBe(text)
  })

  it('stays out of all fields that no peer or person has a say in', () => {
    const ours = Object.entries(fields).filter(([, [care]]) => care === 'ours')
    expect(ours.length).toBeGreaterThan(0)
    for (const [, [, value]] of ours) expect(textOf(value)).not.toContain(core)
  })
})

it('is left where no redaction is wanted', () => {
  const none = createRecordGuard(new Redactor({ defaults: false, tag: () => '' }))
  for (const fields of Object.values(records)) {
    const sample = sampleOf(fields as Fields<TapeRecord>)
    expect(none.take(structuredClone(sample))).toEqual(structuredClone(sample))
  }
})

it('counts each secret of a place in HTTP once', () => {
  const text = `ghp_${core}`
  const place = {
    conversation: 'c1',
    http: { exchange: 1, method: text, path: `/${text}`, headers: [[text, text]] },
    sse: { event: text, id: text },
  } as const
  const redactor = new Redactor({ defaults: true, tag: () => 'tag' })
  createRecordGuard(redactor).place(place)
  const [{ count } = { count: 0 }, ...others] = redactor.report()
  expect({ count, others }).toEqual({ count: 6, others: [] })
})
