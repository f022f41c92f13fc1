import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  matchFilter,
  needsPayload,
  parseFilter,
  type Filter,
  type FilterSubject,
} from '../../src/filter/index.js'
import { call, subject } from './subject.js'

const nowMs = Date.parse('2026-08-01T12:00:00Z')

function filterOf(text: string): Filter {
  const { filter, fault } = parseFilter(text, { nowMs })
  if (!filter) throw new Error(`${text}: column ${fault.column}: ${fault.message}`)
  return filter
}

function matches(text: string, of: FilterSubject): boolean {
  return matchFilter(filterOf(text), of)
}

describe('a filter', () => {
  const search = call('search', { query: 'the Café "x"', limit: 5, deep: { list: [1, 'two', null] } })

  it.each([
    ['', true],
    ['method:tools/call', true],
    ['method:tools/*', true],
    ['method:*/call', true],
    ['method:*o*l*/*', true],
    ['method:*z*', false],
    ['method:"tools/*"', false],
    ['method:tools', false],
    ['method!=ping', true],
    ['method~TOOLS', true],
    ['method:~/^tools\\/(call|list)$/', true],
    ['method~/^TOOLS/', false],
    ['method~/^TOOLS/i', true],
    ['tool:search', true],
    ['prompt:search', false],
    ['resource:search', false],
    ['name:search', true],
    ['-tool:search', false],
    ['not tool:search', false],
    ['--tool:search', true],
    ['tool:other or tool:search', true],
    ['tool:other OR tool:search', true],
    ['tool:other || tool:search', true],
    ['tool:other and tool:search', false],
    ['tool:other tool:search or id:7', true],
    ['tool:other (tool:search or id:7)', false],
    ['-(tool:other or id:8)', true],
    ['dir:in', true],
    ['dir:out', false],
    ['>', true],
    ['<', false],
    ['>search', true],
    ['<search', false],
    ['> tool:search', true],
    ['-<', true],
    ['id:7', true],
    ['id:"7"', true],
    [`id:'"7"'`, false],
    ['is:request', true],
    ['is:answer', false],
    ['café', true],
    ['"the café"', true],
    ['"caf\\\\"', false],
    [`'"x"'`, true],
    ['text:limit', true],
    ['text~/"limit":\\d+/', true],
    ['text:tools/cal', true],
    ['path:$.params.arguments.query', true],
    ['path:$.params.arguments.nothing', false],
    ['path:$.params.arguments.query~"CAFÉ"', true],
    ['$.params.arguments.limit=5', true],
    ['$.params.arguments.limit="5"', false],
    ['$.params.arguments.limit>4.5', true],
    ['$.params.arguments.limit<=4', false],
    ['$.params.arguments.limit!=5', false],
    ['$.params.arguments.deep.list[1]=two', true],
    ['$.params.arguments.deep.list[-1]=null', true],
    ['$.params.arguments.deep.list[*]=two', true],
    ['$..list[?(@ == "two")]', true],
    ['$..list[?(@ == "(two) ~ = ")]', false],
    ['$.params.arguments.deep~/two/', true],
    ['($.params.arguments.limit=5)', true],
  ])('%s on a call: %s', (text, expected) => {
    expect(matches(text, search)).toBe(expected)
  })

  it.each<[string, FilterSubject, boolean]>([
    ['latency:>200ms', subject({ latencyMs: 201 }), true],
    ['latency:>0.2s', subject({ latencyMs: 200 }), false],
    ['latency>=200', subject({ latencyMs: 200 }), false],
    ['latency>=0.2', subject({ latencyMs: 200 }), true],
    ['latency:100ms..1s', subject({ latencyMs: 500 }), true],
    ['latency:100ms..1s', subject({ latencyMs: 1001 }), false],
    ['latency:<1h', subject(), false],
    ['-latency:<1h', subject(), true],
    ['size:>10kB', subject({ sizeBytes: 10_001 }), true],
    ['size:<=10KIB', subject({ sizeBytes: 10_240 }), true],
    ['since:10m', subject({ timeMs: nowMs - 600_000 }), true],
    ['since:yesterday', subject({ timeMs: nowMs - 86_400_000 }), true],
    ['since:yesterday', subject({ timeMs: nowMs - 2 * 86_400_000 }), false],
    ['since:today', subject({ timeMs: nowMs }), true],
    ['since:10m', subject({ timeMs: nowMs - 600_001 }), false],
    ['until:10m', subject({ timeMs: nowMs - 600_001 }), true],
    ['since:2026-08-01', subject({ timeMs: Date.parse('2026-08-01T00:00:00Z') }), true],
    ['before:2026-08-01T02:00+02:00', subject({ timeMs: Date.parse('2026-08-01T00:00:00Z') }), false],
    ['status:error', subject({ status: 'error' }), true],
    ['status:ok', subject({ status: 'error' }), false],
    ['status:>=400', subject({ httpStatus: 404 }), true],
    ['status:200', subject({ httpStatus: 404 }), false],
    ['code:-32602', subject({ errorCode: '-32602' }), true],
    ['seq:3..5', subject({ sequence: 5 }), true],
    ['conv:a*', subject({ conversation: 'abc' }), true],
    ['transport:http', subject({ transport: 'streamable-http' }), true],
    ['rule:swap', subject({ rule: 'swap' }), true],
    ['is:modified', subject({ flags: ['modified'] }), true],
    ['is:dropped', subject({ flags: ['modified'] }), false],
    ['is:error', subject({ kind: 'result', flags: ['error'] }), true],
    ['is:answer', subject({ kind: 'error' }), true],
    ['is:error', subject({ kind: 'error' }), false],
    ['is:noise', subject({ kind: 'noise', text: 'oops' }), true],
    ['oops', subject({ kind: 'noise', text: 'Oops' }), true],
    ['$.a', subject({ kind: 'noise', text: '{"a"' }), false],
    ['-x', subject({ kind: 'gap' }), true],
  ])('%s', (text, of, expected) => {
    expect(matches(text, of)).toBe(expected)
  })

  it('finds a text that is written with escapes', () => {
    const escaped = subject({ text: '{"a":"caf\\u00e9 \\"quoted\\"\\nnext"}' })
    expect(matches('café', escaped)).toBe(true)
    expect(matches('u00e9', escaped)).toBe(true)
    expect(matches(`'"quoted"'`, escaped)).toBe(true)
    expect(matches('~/quoted"\\s+next/', escaped)).toBe(true)
  })

  it('reads the text only when the names do not decide', () => {
    let reads = 0
    const counting = { ...search, raw: () => ((reads += 1), search.raw()) }
    expect(matches('text:limit tool:other', counting)).toBe(false)
    expect(matches('$.params.x or tool:search', counting)).toBe(true)
    expect(reads).toBe(0)
  })

  it.each([
    ['tool:search latency:>1s -is:error', false],
    ['tool:search word', true],
    ['(tool:a or -(text:b))', true],
    ['$.a', true],
    ['', false],
  ])('says whether it needs payloads: %s', (text, expected) => {
    expect(needsPayload(filterOf(text))).toBe(expected)
  })

  it('does not match a text that would take more than linear time, and reports it as undecided', () => {
    const many = subject({ text: `{"a":[${'1,'.repeat(600_000)}1]}` })
    const filter = filterOf('$.a[*]=2')
    expect(filter.test(many)).toBeUndefined()
    expect(matchFilter(filter, many)).toBe(false)
    expect(matchFilter(filterOf('-$.a[*]=2'), many)).toBe(false)
  })

  it('means the same as its parts put together', () => {
    type Tree = { text: string; holds: boolean }
    const leaf = fc.constantFrom<Tree>(
      { text: 'tool:search', holds: true },
      { text: 'tool:other', holds: false },
      { text: '"café"', holds: true },
      { text: '$.params.arguments.limit>5', holds: false },
      { text: '>', holds: true },
      { text: 'is:answer', holds: false },
    )
    const { tree } = fc.letrec<{ tree: Tree }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        leaf,
        tie('tree').map(({ text, holds }) => ({ text: `-(${text})`, holds: !holds })),
        fc.tuple(tie('tree'), tie('tree'), fc.constantFrom(' ', ' and ', ' && ')).map(([a, b, and]) => ({
          text: `(${a.text})${and}(${b.text})`,
          holds: a.holds && b.holds,
        })),
        fc.tuple(tie('tree'), tie('tree'), fc.constantFrom(' or ', ' OR ', '||')).map(([a, b, or]) => ({
          text: `(${a.text} ${or} ${b.text})`,
          holds: a.holds || b.holds,
        })),
      ),
    }))
    fc.assert(fc.property(tree, ({ text, holds }) => matches(text, search) === holds))
  })

  it('matches a glob as an oracle does', () => {
    const piece = fc.string({ unit: fc.constantFrom('a', 'b', '/'), maxLength: 4 })
    fc.assert(
      fc.property(fc.array(piece, { minLength: 1, maxLength: 4 }), piece, piece, (pieces, x, y) => {
        const glob = `a${pieces.join('*')}`
        const name = `a${x}${pieces.join(y)}`
        const oracle = new RegExp(`^${glob.split('*').join('[^]*')}$`)
        expect(matches(`method:${glob}`, subject({ method: name }))).toBe(oracle.test(name))
      }),
    )
  })
})
