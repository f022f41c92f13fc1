import { describe, expect, it } from 'vitest'
import { Redactor } from '../../src/redaction/index.js'
import { defaultRedactor, readableTag, redactorOf, rulesFile } from './redacting.js'

const secrets = (count: number): string => `[${'{"token":"x1"},'.repeat(count - 1)}{"token":"x1"}]`

describe('too many secrets', () => {
  it('up to 50,000 are redacted one by one', () => {
    const found = defaultRedactor().json(`{"jsonrpc":"2.0","id":1,"result":${secrets(50_000)}}`)
    expect(found?.red.length).toBe(50_000)
    expect(found?.raw).not.toContain('x1')
  })

  it('beyond 50,000 the whole of params, result or error is redacted, with the reason in the mark', () => {
    const redactor = new Redactor({ defaults: true, tag: () => 'tag' })
    const found = redactor.json(
      `{"jsonrpc":"2.0","id":1,"result":${secrets(50_001)},"token":"x2","result":{"a":1}}`,
    )
    expect(found).toEqual({
      raw: '{"jsonrpc":"2.0","id":1,"result":"[REDACTED]","token":"[REDACTED]","result":"[REDACTED]"}',
      red: [
        { at: '/result', tag: 'tag', why: 'too-many' },
        { at: '/token', tag: 'tag' },
        { at: '/result', tag: 'tag', why: 'too-many' },
      ],
    })
    expect(redactor.report()).toEqual([
      { rule: 'too-many', count: 2 },
      { rule: 'key:token', count: 1 },
    ])
  })

  it('in one string count like others', () => {
    const text = '&password=x1234567'.repeat(60_000)
    const { raw } = defaultRedactor().json(JSON.stringify({ id: 1, params: { text } }))!
    expect(raw.slice(0, 100)).toBe('{"id":1,"params":"[REDACTED]"}')
  })

  it('elsewhere than in params, result and error cost the whole message', () => {
    const tokens = '"token":"x1",'.repeat(60_000)
    expect(defaultRedactor().json(`{${tokens}"id":1}`)).toEqual({
      raw: '"[REDACTED]"',
      red: [{ at: '', tag: readableTag(`{${tokens}"id":1}`), why: 'too-many' }],
    })
    expect(defaultRedactor().json(`[{${tokens}"id":1},{"id":2}]`)?.raw).toBe('["[REDACTED]","[REDACTED]"]')
  })

  it('cost a line of text all of it', () => {
    const redactor = defaultRedactor()
    expect(redactor.line('password=x1234567 '.repeat(60_000), 'err')).toBe('[REDACTED]')
    expect(redactor.report()).toEqual([{ rule: 'too-many', count: 1 }])
    expect(redactor.line('password=x1234567', 'err')).toBe('password=[REDACTED]')
  })

  it('are counted for patterns and paths of users too', async () => {
    const patterns = await redactorOf({ patterns: ['acct-[0-9]'] })
    expect(patterns.line('acct-1 '.repeat(60_000), 'out')).toBe('[REDACTED]')
    const paths = await redactorOf(rulesFile([{ path: '$.params.list[*].name' }]))
    const list = `[${'{"name":1},'.repeat(60_000)}{"name":2}]`
    expect(paths.json(`{"id":1,"params":{"list":${list}}}`)?.raw).toBe('{"id":1,"params":"[REDACTED]"}')
    expect(paths.json(`[${'{"params":{"list":[{"name":1}]}},'.repeat(10_000)}{}]`)?.raw).toBe('"[REDACTED]"')
  })
})
