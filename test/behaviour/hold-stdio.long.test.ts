import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { attach } from './attach.js'
import { answers, answerTo, call, isMessage, ping, useMini } from './mini-talk.js'
import { until } from './stage.js'
import { type Line } from './tape-bytes.js'

const { stage, record, end } = useMini()

describe('a held message', () => {
  it('delays the rest of its own exchange only', async () => {
    const recorder = record('--break', 'id:1')
    const screen = await attach(stage)
    await recorder.send(call(1, 'slow', { ms: 1 }))
    const held = await screen.held()
    expect(held).toMatchObject({ reason: 'breakpoint', by: 'id:1' })
    await recorder.send(ping(2))
    await answerTo(recorder, 2)
    await recorder.send('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}\n')
    const changed = await screen.event('it is moot', ({ type }) => type === 'held-changed')
    expect(changed).toMatchObject({ message: held['message'], moot: 'its sender cancelled it' })
    expect(await screen.held(2)).toMatchObject({ reason: 'order' })
    await screen.tell({ type: 'drop', message: held['message'] })
    await screen.event('the cancellation goes on', (e) => e['type'] === 'released' && e['cause'] === 'order')
    const lines = await end(recorder)
    expect(lines.find(({ type }) => type === 'dropped')).toMatchObject({
      id: held['message'],
      why: 'by a person',
    })
    expect(lines.filter(isMessage).map(({ raw }) => raw.id ?? raw.method)).toEqual([
      2,
      2,
      'notifications/cancelled',
    ])
  })

  it('is shown with its secrets to screens, and not to onlookers', async () => {
    const secret = 'sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'
    const recorder = record('--break', 'tool:echo is:request')
    const screen = await attach(stage)
    const onlooker = await attach(stage, { role: 'onlooker' })
    await recorder.send(call(1, 'echo', { text: 'x', api_key: secret }))
    const { message, text } = await screen.held()
    expect(text).toContain(secret)
    await screen.tell({ type: 'edit', message, text: text.replace('"x"', '"y"') })
    await answerTo(recorder, 1)
    const lines = await end(recorder)
    await onlooker.closed
    expect(JSON.stringify(onlooker.events)).not.toContain(secret)
    expect(JSON.stringify(lines)).not.toContain(secret)
    expect(lines.find(isMessage)).toMatchObject({
      raw: { params: { arguments: { text: 'y', api_key: '[REDACTED]' } } },
      original: { params: { arguments: { text: 'x', api_key: '[REDACTED]' } } },
    })
  })
})

describe('an injected message', () => {
  it('is a request that was recorded, sent again under another id', async () => {
    const recorder = record()
    await recorder.send(call(1, 'add', { a: 1, b: 2 }))
    await answerTo(recorder, 1)
    const screen = await attach(stage)
    await until('it is told', () => screen.records().some(isMessage))
    const message = screen.records().find(isMessage)!['id']
    const again = await screen.tell({ type: 'replay', message })
    expect(JSON.parse(again['sent'])).toMatchObject({
      id: expect.stringMatching(/^wiretape-[0-9a-f]{8}-1$/),
      params: { arguments: { a: 1, b: 2 } },
    })
    expect(JSON.parse(again['answer'])).toMatchObject({ result: { content: [{ text: '3' }] } })
    const changed = { type: 'replay', message, text: again['sent'].replace('"a":1', '"a":40') }
    expect(JSON.parse((await screen.tell(changed))['answer'])).toMatchObject({
      result: { content: [{ text: '42' }] },
    })
    const named = await screen.tell({ type: 'replay', message, requestId: 'mine' })
    expect(JSON.parse(named['sent'])).toMatchObject({
      id: 'mine',
      params: { _meta: { progressToken: 'mine' }, arguments: { a: 1, b: 2 } },
    })
    for (const command of [{ type: 'replay' }, { type: 'annotate', text: 'x' }]) {
      expect(await screen.ask({ ...command, message: 'nobody' })).toMatchObject({
        error: { code: 'not-found' },
      })
    }
    expect(answers(recorder)).toHaveLength(1)
  })
})

describe('at the end', () => {
  it('held messages go on when the client has ended its input and no screen is attached', async () => {
    const recorder = record('--intercept')
    recorder.stdin.end(ping(1) + ping(2))
    expect(await recorder.ended).toMatchObject({ exitCode: 0 })
    expect(answers(recorder).map(({ id }) => id as unknown)).toEqual([1, 2])
  })
})

describe('a capture', () => {
  it('saves a session file with both payloads, and takes notes', async () => {
    const recorder = record('--break', 'tool:echo is:request')
    const screen = await attach(stage)
    await recorder.send(call(1, 'echo', { text: 'before' }))
    const { message, text } = await screen.held()
    await screen.tell({ type: 'edit', message, text: text.replace('before', 'after') })
    await answerTo(recorder, 1)
    await screen.tell({ type: 'annotate', message, text: 'look at this' })
    await until('the note is on the tape', () => screen.records().some(({ type }) => type === 'note'))
    expect(screen.hello['sessionFile']).toBe(stage.tape().replace('.jsonl', '.session.json'))
    const { path } = await screen.tell({ type: 'save', path: stage.path('s.json') })
    const session = JSON.parse(readFileSync(path, 'utf8')) as Line
    expect(session['messages'][0]).toMatchObject({
      modified: true,
      payload: { params: { arguments: { text: 'after' } } },
      original_payload: { params: { arguments: { text: 'before' } } },
    })
    expect((await end(recorder)).find(({ type }) => type === 'note')).toMatchObject({
      about: message,
      text: 'look at this',
    })
  })
})
