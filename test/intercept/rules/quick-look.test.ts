import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Rules } from '../../../src/intercept/rules/rules.js'
import { callText, frameOf, rulesOf } from './deciding.js'
import { runs } from '../../long.js'

const latin1 = (text: string): string => Buffer.from(text).toString('latin1')

function rule(when: string, more = ''): Rules {
  return rulesOf(
    JSON.stringify({ rules: [{ name: 'r', when, drop: true }] }).replace(/\}\]\}$/, `${more}}]}`),
  )
}

/** Undefined when one of them could never hold, which is a fault of the file. */
function rulesIfAny(filters: readonly string[]): Rules | undefined {
  try {
    return rulesOf(JSON.stringify({ rules: filters.map((when, i) => ({ name: `r${i}`, when, delay: 1 })) }))
  } catch (problem) {
    if (String(problem).includes('can never match')) return undefined
    throw problem
  }
}

function looks(
  when: string,
  text: string,
  direction: 'client_to_server' | 'server_to_client' = 'client_to_server',
) {
  return rule(when).mayConcern(latin1(text), direction)
}

describe('a quick look', () => {
  it.each([
    ['tool:search', callText('search'), true],
    ['tool:search', callText('other'), false],
    ['tool:search', '{"jsonrpc":"2.0","id":1,"method":"ping"}', false],
    ['method:tools/*', callText('other'), true],
    ['method:prompts/* or tool:search', callText('other'), false],
    ['method:prompts/* or tool:search', callText('search'), true],
    ['<', callText('search'), false],
    ['$.params.arguments.query', callText('search', '{"query":1}'), true],
    ['$.params.arguments.query', callText('search', '{"limit":1}'), false],
    ['-tool:search', callText('search'), true],
    ['words', callText('search'), true],
    ['tool:search', callText('x').replace('"x"', '"\\u0073earch"'), true],
    ['method:tools/call', callText('x').replace('tools/call', 'tools\\/call'), true],
    ['tool:"a b"', callText('a b'), true],
    ['tool:é', callText('é'), true],
    ['status:error', callText('search'), false],
  ])('%s', (when, text, expected) => {
    expect(looks(when, text)).toBe(expected)
  })

  it('sees the requests that a rule for answers names, and every answer', () => {
    const rules = rule('tool:search status:error', ',"on":"answers"')
    expect(rules.mayConcern(callText('search'), 'client_to_server')).toBe(true)
    expect(rules.mayConcern(callText('other'), 'client_to_server')).toBe(false)
    expect(rules.mayConcern('{"jsonrpc":"2.0","id":1,"result":{}}', 'server_to_client')).toBe(true)
  })

  it('is never false for what a rule is about', () => {
    const word = fc.constantFrom('search', 'tools/call', 'ping', 'query', 'a"b', 'é', '7', 'x')
    const when = fc.letrec<{ when: string }>((tie) => ({
      when: fc.oneof(
        { maxDepth: 3 },
        word.map((text) => `tool:${JSON.stringify(text)}`),
        word.map((text) => `method:${JSON.stringify(text)}`),
        fc.constantFrom(
          'method:to*call',
          'tool:*r*',
          '$.params.arguments.query',
          '$.params.name=search',
          '$.error',
        ),
        fc.constantFrom(
          '>',
          '<',
          'is:request',
          'is:answer',
          'is:error',
          'status:error',
          'code:-1',
          'text:x',
          'id:7',
        ),
        fc.tuple(tie('when'), tie('when')).map(([a, b]) => `(${a} ${b})`),
        fc.tuple(tie('when'), tie('when')).map(([a, b]) => `(${a} or ${b})`),
        tie('when').map((text) => `-(${text})`),
      ),
    })).when
    const text = fc.oneof(
      fc
        .tuple(word, word)
        .map(
          ([tool, name]) =>
            `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":${JSON.stringify(tool)},"arguments":{${JSON.stringify(name)}:1}}}`,
        ),
      word.map((method) => `{"jsonrpc":"2.0","method":${JSON.stringify(method)}}`),
      fc.constantFrom(
        '{"jsonrpc":"2.0","id":7,"result":{"x":1}}',
        '{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"x"}}',
        '{"jsonrpc":"2.0","id":7,"result":{"isError":true}}',
      ),
    )
    const escaped = text.chain((plain) =>
      fc
        .nat(3)
        .map((n) =>
          n === 0 ? plain.replace('search', '\\u0073earch').replace('tools/', 'tools\\/') : plain,
        ),
    )
    fc.assert(
      fc.property(fc.array(when, { minLength: 1, maxLength: 4 }), escaped, (filters, raw) => {
        const rules = rulesIfAny(filters)
        fc.pre(rules !== undefined)
        const frame = frameOf(raw)
        if (rules.decide(frame))
          expect(rules.mayConcern(latin1(raw), frame.subjects[0]!.direction!)).toBe(true)
      }),
      { numRuns: runs(1000) },
    )
  })
})
