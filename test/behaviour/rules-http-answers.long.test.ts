import { describe, expect, it } from 'vitest'
import { attach } from './attach.js'
import { isMessage, post as postWhole } from './http-stage.js'
import type { Line } from './tape-bytes.js'
import { call, post, useRulesOverHttp } from './rules-http-stage.js'

const { stage, record, recordEcho } = useRulesOverHttp()

describe.each(['json', 'events'] as const)('over HTTP, with responses as %s, a rule', (as) => {
  it('that cannot be applied to a response sends an error instead, and the tape has both', async () => {
    const { recorder, url } = await recordEcho(
      as,
      `rules: [{ name: deep, when: 'id:2', on: answers, set: { '$.result.a.b': 1 } }]`,
    )
    const problem = 'rule deep cannot be applied: $.result.a.b cannot be added to the message'
    const error = `{"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"wiretape: ${problem}"}}`
    const alone = await post(url, call(2, '{}'))
    expect(alone.trimEnd().endsWith(error)).toBe(true)
    const both = await post(url, `[${call(1, '{}')},${call(2, '{}')}]`)
    expect(both).toContain('"id":1,"result"')
    expect(both).toContain(error)
    const lines = await stage.end(recorder)
    const changed = lines.filter((line) => line['modified'])
    expect(changed).toHaveLength(2)
    for (const line of changed) expect(line).toMatchObject({ dir: 'out', rule: 'deep' })
    expect(changed[0]).toMatchObject({ raw: { error: {} }, original: { id: 2, result: {} } })
    expect(lines.filter(({ type }) => type === 'dropped')).toEqual([])
  })

  it('reports messages that it could not look at', async () => {
    const upstream = await stage.echo(as)
    const rules = `rules: [{ name: block, when: 'tool:echo', respond: { result: {} } }]`
    const { recorder, url } = await record(upstream.url, rules)
    const headers = { 'content-type': 'application/json' }
    const body = Buffer.from(call(1, '{"text":"\xff"}'), 'latin1')
    await fetch(url, { method: 'POST', headers, body }).then((got) => got.text())
    const notes = (await stage.end(recorder)).filter(({ type }) => type === 'note')
    expect(notes[0]!['text']).toBe(
      'a request was forwarded without being held or changed: text that is not UTF-8 cannot be inspected (exchange 0)',
    )
  })

  it('holds for a person', async () => {
    const { recorder, url } = await recordEcho(
      as,
      `rules: [{ name: look, when: 'tool:echo', on: answers, hold: true }]`,
    )
    const screen = await attach(stage)
    const got = post(url, call(1, '{"text":"x"}'))
    const held = await screen.held()
    expect(held).toMatchObject({ reason: 'rule', by: 'look', direction: 'server_to_client' })
    await screen.tell({ type: 'forward', message: held['message'] })
    expect(await got).toContain('"text":"x"')
    screen.close()
    await stage.end(recorder)
  })

  it('responds to parts of a batch and drops others; the client gets the responses to all of it', async () => {
    const { upstream, recorder, url } = await recordEcho(
      as,
      `rules:
        - { name: block, when: 'id:1 is:request', respond: { error: { code: -1, message: blocked } } }
        - { name: lose, when: 'id:2 is:request', drop: true }
        - { name: mute, when: 'id:4 is:result', drop: true }`,
    )
    const note = '{"jsonrpc":"2.0","method":"notifications/x"}'
    const both = await post(url, `[${call(1, '{}')},${call(2, '{}')},${call(3, '{}')},${note}]`)
    expect(JSON.parse(upstream.bodies[0]!)).toMatchObject([{ id: 3 }, { method: 'notifications/x' }])
    expect(both).toContain('"code":-1')
    expect(both).toMatch(/"id":2,"error":\{"code":-32000/)
    expect(both).toContain('"id":3,"result"')
    if (as === 'json') expect(JSON.parse(both)).toMatchObject([{ id: 1 }, { id: 2 }, { id: 3 }])
    const noted = await postWhole(url, `[${call(1, '{}')},${note}]`)
    expect(noted).toMatchObject({ status: 200, type: 'application/json' })
    expect(JSON.parse(noted.text)).toMatchObject([{ id: 1, error: { code: -1 } }])
    if (as === 'json') {
      const muted = JSON.parse(await post(url, `[${call(4, '{}')},${call(5, '{}')}]`)) as unknown
      expect(muted).toMatchObject([{ id: 5 }, { id: 4, error: { code: -32000 } }])
    }
    const ours = (await stage.end(recorder)).filter((line) => isMessage(line) && line['injected'])
    expect(ours.slice(0, 2)).toMatchObject([
      { dir: 'out', raw: { id: 1 } },
      { dir: 'out', raw: { id: 2 } },
    ])
  })

  it('renames one part of a batch and drops another', async () => {
    const { upstream, recorder, url } = await recordEcho(
      as,
      `rules:
        - { name: rename, when: 'id:1 is:request', set: { '$.id': 77 } }
        - { name: lose, when: 'id:2 is:request', drop: true }
        - { name: take, when: 'id:3 is:request', set: { '$.id': 2 } }
        - { name: mute, when: 'id:5 is:request', on: answers, drop: true }`,
    )
    const idsIn = (text: string): unknown[] =>
      (text.startsWith('[')
        ? (JSON.parse(text) as Line[])
        : [...text.matchAll(/^data: (.*)$/gm)].map(([, data]) => JSON.parse(data!) as Line)
      )
        .filter(({ id }) => id !== undefined)
        .map(({ id, error }) => (error === undefined ? id : [id]))
    const one = idsIn(await post(url, `[${call(1, '{}')},${call(2, '{}')},${call(4, '{}')}]`))
    expect(JSON.parse(upstream.bodies[0]!)).toMatchObject([{ id: 77 }, { id: 4 }])
    expect(one).toHaveLength(3)
    expect(one).toEqual(expect.arrayContaining([1, [2], 4]))
    // A request that takes the id of its neighbour fails closed, whatever happens to the neighbour.
    const two = idsIn(await post(url, `[${call(3, '{}')},${call(2, '{}')},${call(4, '{}')}]`))
    expect(JSON.parse(upstream.bodies[1]!)).toMatchObject([{ id: 4 }])
    expect(two).toHaveLength(3)
    expect(two).toEqual(expect.arrayContaining([[3], [2], 4]))
    const three = idsIn(await post(url, `[${call(1, '{}')},${call(5, '{}')}]`))
    expect(three).toEqual(expect.arrayContaining([1]))
    const lines = (await stage.end(recorder)).filter(isMessage)
    const request = lines.find((line) => line['modified'])!
    expect(request).toMatchObject({
      raw: [{ id: 77 }, { id: 4 }],
      original: [{ id: 1 }, { id: 2 }, { id: 4 }],
    })
    const answer = lines.find((line) => line['dir'] === 'out' && line['modified'])!
    expect(JSON.stringify(answer['original'])).toContain('"id":77,')
    expect(JSON.stringify(answer)).toContain(`"corr":"${request['id']}"`)
  })

  it('that would make it no JSON-RPC, or no request, fails closed', async () => {
    const { upstream, recorder, url } = await recordEcho(
      as,
      `rules:
        - { name: three, when: 'id:1 is:request', set: { '$.jsonrpc': 3 } }
        - { name: idless, when: 'id:2 is:request', remove: ['$.id'] }
        - { name: taken, when: 'id:3 is:request', set: { '$.id': 4 } }`,
    )
    expect(await post(url, call(1, '{}'))).toContain('no longer be JSON-RPC: \\"jsonrpc\\" is not')
    expect(await post(url, call(2, '{}'))).toContain(
      'the message would be a notification instead of a request',
    )
    expect(await post(url, call(3, '{}'))).toContain('"id":3,"result"')
    expect(upstream.bodies.map((body) => (JSON.parse(body) as Line)['id'] as unknown)).toEqual([4])
    const lines = await stage.end(recorder)
    expect(lines.filter(({ type }) => type === 'dropped')).toMatchObject([
      { rule: 'three' },
      { rule: 'idless' },
    ])
  })

  it('makes the same faults in every run of the same seed', async () => {
    const lost: boolean[][] = []
    for (let n = 0; n < 2; n += 1) {
      const upstream = await stage.echo(as)
      const { recorder, url } = await record(
        upstream.url,
        `seed: 7
rules: [{ name: lost, when: 'is:request', drop: true, probability: 0.5 }]`,
      )
      const found: boolean[] = []
      for (let id = 0; id < 20; id += 1) found.push((await post(url, call(id, '{}'))).includes('-32000'))
      lost.push(found)
      recorder.child.kill('SIGTERM')
      await recorder.ended
    }
    expect(new Set(lost[0])).toEqual(new Set([true, false]))
    expect(lost[1]).toEqual(lost[0])
  })
})
