import { describe, expect, it } from 'vitest'
import { entryKinds, type EntryKind, type Part, type TapeRecord } from '../../src/model/index.js'
import { factWords, linkWords, rowLine, rowMatter, rowView, toldFacts } from '../../src/render/index.js'

const t = '2026-08-01T10:00:00.000Z'
const frame = (kind: EntryKind, envelope: object): [TapeRecord, Part] => {
  const part = { envelope: { kind, ...envelope }, start: 0, end: 2 } as Part
  return [
    {
      type: 'message',
      t,
      direction: 'client_to_server',
      raw: '{}',
      batch: false,
      parts: [part],
    },
    part,
  ]
}
const http = (more: object): [TapeRecord, undefined] => [
  { type: 'http', t, exchange: 0, method: 'GET', path: '/mcp', ...more },
  undefined,
]
/** The line of a row. */
function lineOf(
  kind: EntryKind,
  [record, part]: readonly [TapeRecord, Part | undefined],
  number?: number,
): string {
  const asked = number === undefined ? undefined : { method: 'tools/call', subject: 'search' }
  return rowLine(rowView(rowMatter(record, part, kind), asked), kind, number)
}

describe('the words of a row', () => {
  it.each<[string, string]>([
    ['tools/call search', lineOf('request', frame('request', { method: 'tools/call', subject: 'search' }))],
    [
      'notifications/initialized',
      lineOf('notification', frame('notification', { method: 'notifications/initialized' })),
    ],
    ['result of #3 tools/call search', lineOf('result', frame('result', {}), 3)],
    ['result', lineOf('result', frame('result', {}))],
    [
      'error of #3 tools/call search',
      lineOf('error', frame('error', { errorCode: '-1', errorMessage: 'no' }), 3),
    ],
    ['not JSON-RPC: no method', lineOf('invalid', frame('invalid', { problem: 'no method' }))],
    [
      'not JSON: "Ready\\n"',
      lineOf('noise', [{ type: 'noise', t, direction: 'server_to_client', text: 'Ready\n' }, undefined]),
    ],
    ['careful', lineOf('stderr', [{ type: 'stderr', t, text: 'careful' }, undefined])],
    ['404 of GET /mcp', lineOf('http', http({ status: 404 }))],
    ['no response of GET /mcp', lineOf('http', http({ why: 'refused' }))],
    ['401 by wiretape of GET /mcp', lineOf('http', http({ why: 'no token, answered 401 by wiretape' }))],
    [
      'endpoint 7 in 200 of GET /mcp',
      lineOf('http', http({ status: 200, sse: { event: 'endpoint', id: '7' } })),
    ],
    [
      'gap: 2 messages and 1 stderr line not recorded',
      lineOf('gap', [{ type: 'gap', t, lost: 2, lostStderr: 1, why: 'disk full' }, undefined]),
    ],
  ])('are %s', (words, line) => {
    expect(line).toBe(words)
  })

  it('are escaped and bounded, whatever a peer says, for every kind of row', () => {
    const hostile = `\u001b[31m\u202e${'x'.repeat(10_000)}`
    const envelope = {
      method: hostile,
      subject: hostile,
      errorCode: hostile,
      errorMessage: hostile,
      problem: hostile,
    }
    const asked = { method: hostile, subject: hostile }
    for (const kind of entryKinds) {
      const records: readonly (readonly [TapeRecord, Part | undefined])[] = [
        frame(kind, envelope),
        http({ method: hostile, path: hostile, why: hostile, sse: { event: hostile } }),
        [{ type: 'noise', t, direction: 'server_to_client', text: hostile }, undefined],
        [{ type: 'gap', t, lost: 1, why: hostile }, undefined],
      ]
      for (const [record, part] of records) {
        const view = rowView(rowMatter(record, part, kind), asked)
        for (const text of [...Object.values(view), rowLine(view, kind, 1)]) {
          expect(text).not.toMatch(/[\u001b\u202e]/)
          expect(text.length).toBeLessThan(1_500)
        }
      }
    }
  })

  it('tell a request that wiretape answered not as dropped too', () => {
    expect(toldFacts(new Set(['dropped', 'answered-here'])).map((fact) => factWords[fact].text)).toEqual([
      'answered by wiretape',
    ])
    expect(linkWords('progress', '#3')).toBe('for #3')
  })
})
