import { writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { attach } from './attach.js'
import { isMessage, post } from './http-stage.js'
import type { Line } from './tape-bytes.js'
import { call, useHeldHttp } from './hold-http-stage.js'
import { isLong } from '../long.js'

const { stage, record, recordEcho } = useHeldHttp()

const kinds = isLong ? (['json', 'events'] as const) : (['events'] as const)

describe.each(kinds)('over HTTP, answered with %s', (as) => {
  it('a held request goes on with another body and length', async () => {
    const { upstream, recorder, url, screen } = await recordEcho(as, '--break', 'is:request')
    const got = post(url, call(1, 'before'), { 'mcp-method': 'tools/call', 'mcp-param-words': 'before' })
    const { message, text } = await screen.held()
    await screen.tell({ type: 'edit', message, text: text.replace('before', 'much later') })
    expect((await got).text).toContain('much later')
    expect(JSON.parse(upstream.bodies[0]!)).toMatchObject({ params: { arguments: { text: 'much later' } } })
    expect(upstream.headers[0]).toMatchObject({
      // No list of tools has passed that maps this header to an argument.
      'mcp-param-words': 'before',
      'content-length': String(Buffer.byteLength(upstream.bodies[0]!)),
    })
    const lines = await stage.end(recorder)
    expect(lines.filter(isMessage)[0]).toMatchObject({ id: message, seq: 0, modified: true })
  })

  it('a response is held, edited and sent on in its place', async () => {
    const { recorder, url, screen } = await recordEcho(as, '--break', 'is:answer')
    const got = post(url, call(1, 'x'))
    const { message, text } = await screen.held()
    await screen.tell({ type: 'edit', message, text: text.replace('"x"', '"changed on its way"') })
    const { status, text: body } = await got
    expect(status).toBe(200)
    expect(body).toContain('changed on its way')
    if (as === 'events') expect(body).toMatch(/^id: 1\ndata: .*\n\nid: 2\nevent: message\ndata: .*\n\n$/)
    const lines = await stage.end(recorder)
    expect(lines.find((line) => line['modified'])).toMatchObject({
      id: message,
      corr: lines.find(isMessage)!['id'],
    })
  })

  it('a dropped request gets our response, and never reaches the server', async () => {
    const { upstream, recorder, url, screen } = await recordEcho(as, '--break', 'tool:echo is:request')
    const got = post(url, call(1, 'x'))
    await screen.tell({ type: 'drop', message: (await screen.held())['message'] })
    const { status, text } = await got
    expect(status).toBe(200)
    expect(JSON.parse(text)).toMatchObject({
      id: 1,
      error: { code: -32000, message: expect.stringContaining('wiretape') },
    })
    expect(upstream.bodies).toEqual([])
    const lines = await stage.end(recorder)
    expect(lines.map(({ type }) => type as unknown)).toEqual([
      'meta',
      'held',
      'dropped',
      undefined,
      'http',
      'end',
    ])
    expect(lines[3]).toMatchObject({ dir: 'out', injected: true, corr: lines[1]!['id'] })
  })

  it('rules change, respond and drop without a screen', async () => {
    const upstream = await stage.echo(as)
    writeFileSync(
      stage.path('rules.yaml'),
      `rules:
        - { name: swap, when: 'id:1 is:request', set: { '$.params.arguments.text': SWAPPED } }
        - { name: block, when: 'id:2 is:request', respond: { error: { code: -1, message: blocked } } }
        - { name: lose, when: 'id:3 is:request', drop: true }
        - { name: later, when: 'id:4 is:request', delay: 50ms }
        - { name: mask, when: 'id:5 is:result', set: { '$.result.asked': null } }`,
    )
    const { recorder, url } = await record(upstream.url, '--rules', 'rules.yaml')
    expect((await post(url, call(1, 'x'))).text).toContain('SWAPPED')
    expect(JSON.parse((await post(url, call(2, 'x'))).text)).toMatchObject({
      error: { code: -1, message: 'blocked' },
    })
    expect((await post(url, call(3, 'x'))).text).toContain('-32000')
    expect((await post(url, call(4, 'x'))).text).toContain('"x"')
    expect((await post(url, call(5, 'x'))).text).toContain('"asked":null')
    const lines = await stage.end(recorder)
    const ruled = lines.filter(isMessage).map((line) => line['rule'] as unknown)
    expect(ruled.filter((rule) => rule !== undefined)).toEqual(['swap', 'block', 'lose', 'later', 'mask'])
  })
})

describe('a held response', () => {
  it('that is dropped becomes an error for its client, which the tape has', async () => {
    const upstream = await stage.echo('json')
    const { recorder, url } = await record(upstream.url, '--break', 'is:answer')
    const screen = await attach(stage)
    const got = post(url, call(1, 'x'))
    await screen.tell({ type: 'drop', message: (await screen.held())['message'] })
    const { text } = await got
    expect(text).toContain('wiretape: dropped: by a person')
    const lines = await stage.end(recorder)
    const ours = lines.filter((line) => isMessage(line) && line['injected'])
    expect(ours).toMatchObject([
      { dir: 'out', raw: JSON.parse(text) as Line, corr: lines.find(isMessage)!['id'] },
    ])
  })
})

describe('a held request', () => {
  it('can be released at the end of the session, which does not wait for it', async () => {
    const upstream = await stage.echo('json')
    const { recorder, url } = await record(upstream.url, '--intercept')
    const got = post(url, call(1, 'x')).catch(() => 'broken')
    const screen = await attach(stage)
    await screen.held()
    const lines = await stage.end(recorder)
    await got
    expect(lines.some(({ type }) => type === 'dropped')).toBe(true)
  })
})
