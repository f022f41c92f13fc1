import { describe, expect, it } from 'vitest'
import { attach } from './attach.js'
import { answers, answerTo, call, isMessage, ping, useMini } from './mini-talk.js'
import { kill, until } from './stage.js'
import { linesOfTape } from './tape-bytes.js'

const { stage, record, end } = useMini()

describe('an attached client of a capture', () => {
  it('gets the lines of the tape, then new ones', async () => {
    const recorder = record()
    await recorder.send(ping(1))
    await answerTo(recorder, 1)
    const onlooker = await attach(stage, { role: 'onlooker' })
    await onlooker.event('it is up to date', ({ type }) => type === 'live')
    await recorder.send(ping(2))
    await until('the second ping is told', () => onlooker.records().filter(isMessage).length === 4)
    const lines = await end(recorder)
    await onlooker.event('it ends', ({ type }) => type === 'ended')
    await onlooker.closed
    expect(onlooker.records()).toEqual(lines)
  })
})

describe('a held message', () => {
  it('is edited and goes on; the response belongs to the edited request, and the tape has both', async () => {
    const recorder = record()
    const screen = await attach(stage)
    await screen.tell({ type: 'hold', on: true })
    await recorder.send(call(1, 'echo', { text: 'before' }))
    const held = await screen.held()
    expect(held).toMatchObject({ direction: 'client_to_server', reason: 'hold' })
    expect(JSON.parse(held['text'])).toMatchObject({ params: { arguments: { text: 'before' } } })
    await screen.tell({
      type: 'edit',
      message: held['message'],
      text: held['text'].replace('before', 'after'),
    })
    const answer = await screen.held(2)
    await screen.tell({ type: 'forward', message: answer['message'] })
    expect(await answerTo(recorder, 1)).toMatchObject({ result: { content: [{ text: 'after' }] } })
    await screen.tell({ type: 'hold', on: false })
    const lines = await end(recorder)
    const [request, result] = lines.filter(isMessage)
    expect(lines.find(({ type }) => type === 'held')).toMatchObject({
      id: held['message'],
      seq: 0,
      raw: { params: { arguments: { text: 'before' } } },
    })
    expect(request).toMatchObject({
      id: held['message'],
      seq: 0,
      modified: true,
      raw: { params: { arguments: { text: 'after' } } },
      original: { params: { arguments: { text: 'before' } } },
      heldMs: expect.any(Number),
    })
    expect(result).toMatchObject({ id: answer['message'], seq: 1, corr: request!['id'] })
    expect(result).not.toHaveProperty('modified')
  })

  it('gets a response in place of the server, which never sees it', async () => {
    const recorder = record('--break', 'tool:echo')
    const screen = await attach(stage)
    await recorder.send(call('a', 'echo', { text: 'x' }))
    const { message } = await screen.held()
    await screen.tell({ type: 'answer', message, result: '{"content":[], "n":1.0}' })
    await answerTo(recorder, 'a')
    expect(recorder.stdout().toString()).toBe('{"jsonrpc":"2.0","id":"a","result":{"content":[], "n":1.0}}\n')
    const lines = await end(recorder)
    expect(lines.find(({ type }) => type === 'dropped')).toMatchObject({ id: message })
    expect(lines.filter(isMessage)).toMatchObject([{ dir: 'out', injected: true, corr: message, seq: 1 }])
  })
})

describe('holding', () => {
  it('ends with the last screen, even a killed one: held messages go on', async () => {
    const recorder = record('--intercept')
    const [one, other] = [await attach(stage), await attach(stage)]
    await recorder.send(ping(1))
    await one.held()
    await other.held()
    one.close()
    await recorder.send(ping(2))
    await other.held(2)
    expect(answers(recorder)).toEqual([])
    other.close()
    await answerTo(recorder, 1)
    await answerTo(recorder, 2)
    await recorder.send(ping(3))
    await answerTo(recorder, 3)
  })
})

describe('an injected message', () => {
  it('is sent to the server, and its response goes to the screen, not to the client', async () => {
    const recorder = record()
    const screen = await attach(stage)
    const text = '{"jsonrpc":"2.0","id":"mine","method":"ping"}'
    const result = await screen.tell({ type: 'inject', direction: 'client_to_server', text })
    expect(JSON.parse(result['answer'])).toEqual({ jsonrpc: '2.0', id: 'mine', result: {} })
    await recorder.send(ping(1))
    await answerTo(recorder, 1)
    expect(answers(recorder)).toHaveLength(1)
    const lines = await end(recorder)
    expect(lines.find(isMessage)).toMatchObject({ dir: 'in', injected: true, id: result['message'] })
    expect(lines.find(({ type }) => type === 'held')).toMatchObject({ dir: 'out', corr: result['message'] })
    expect(lines.find(({ type }) => type === 'dropped')).toBeDefined()
  })
})

describe('at the end', () => {
  it('SIGTERM ends a session with held messages, and the tape says that they were dropped', async () => {
    const recorder = record('--break', 'dir:in')
    const screen = await attach(stage)
    await recorder.send(ping(1))
    await screen.held()
    recorder.child.kill('SIGTERM')
    await recorder.ended
    const lines = linesOfTape(stage.tape())
    expect(lines.map(({ type }) => type as unknown)).toEqual(['meta', 'held', 'dropped', 'end'])
  })

  it('a capture that is killed with messages held leaves a tape that says so', async () => {
    const recorder = record('--intercept')
    const screen = await attach(stage)
    await recorder.send(ping(1))
    await screen.held()
    await until('it is on the tape', () => screen.records().some(({ type }) => type === 'held'))
    kill(recorder.pid)
    await recorder.ended
    await screen.closed
    expect(linesOfTape(stage.tape()).map(({ type }) => type as unknown)).toEqual(['meta', 'held'])
  })
})
