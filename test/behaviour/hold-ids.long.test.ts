import { describe, expect, it } from 'vitest'
import { attach } from './attach.js'
import { answers, answerTo, call, isMessage, ping, useMini } from './mini-talk.js'
import { until } from './stage.js'

const { stage, record, end } = useMini()

describe('a held message', () => {
  it('stays matched with its response when its id is changed, also for its client', async () => {
    const recorder = record('--break', 'tool:echo is:request')
    const screen = await attach(stage)
    await recorder.send(call(1, 'echo', { text: 'x' }))
    const { message, text } = await screen.held()
    await screen.tell({ type: 'edit', message, text: text.replace('"id":1', '"id":"other"') })
    expect(await answerTo(recorder, 1)).toMatchObject({ result: { content: [{ text: 'x' }] } })
    const [request, answer] = (await end(recorder)).filter(isMessage)
    expect(request).toMatchObject({ raw: { id: 'other' }, original: { id: 1 } })
    expect(answer).toMatchObject({
      raw: { id: 1 },
      original: { id: 'other' },
      modified: true,
      corr: request!['id'],
    })
  })

  it("can be cancelled by its client, and the server gets the server's id", async () => {
    const recorder = record('--break', 'tool:slow is:request')
    const screen = await attach(stage)
    await recorder.send(call(7, 'slow', { ms: 60_000 }))
    const { message, text } = await screen.held()
    await screen.tell({ type: 'edit', message, text: text.replace('"id":7', '"id":99') })
    await recorder.send(
      '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7,"n":1.0}}\n',
    )
    const lines = await end(recorder)
    const cancel = lines.findLast((line) => isMessage(line) && line['dir'] === 'in')!
    expect(cancel).toMatchObject({
      raw: { params: { requestId: 99 } },
      original: { params: { requestId: 7 } },
      linked: [{ kind: 'cancel', to: message }],
    })
  })

  it('cannot take the id of another pending request, whose client would get its response', async () => {
    const recorder = record('--break', 'tool:echo is:request')
    const screen = await attach(stage)
    await recorder.send(call(5, 'slow', { ms: 60_000 }) + call(1, 'echo', { text: 'x' }))
    const { message, text } = await screen.held()
    const edit = { type: 'edit', message, text: text.replace('"id":1', '"id":5') }
    const { error } = await screen.ask(edit)
    expect(error).toMatchObject({
      code: 'invalid',
      message: 'a request with this id still waits for its response',
    })
    await screen.tell({ ...edit, text: text.replace('"id":1', '"id":2') })
    expect(await answerTo(recorder, 1)).toMatchObject({ result: { content: [{ text: 'x' }] } })
    // Two requests with one id at the server: the second waits for the first.
    await recorder.send(call(3, 'echo', { text: 'y' }))
    const held = await screen.held(2)
    const asSlow = held['text']
      .replace('"id":3', '"id":9')
      .replace('echo', 'slow')
      .replace('"text"', '"ms":300,"text"')
    await screen.tell({ type: 'edit', message: held['message'], text: asSlow })
    await recorder.send(ping(9))
    expect(await answerTo(recorder, 9)).toMatchObject({ result: {} })
    const order = answers(recorder).map(({ id }) => id as unknown)
    expect(order.indexOf(3)).toBeLessThan(order.indexOf(9))
    screen.close()
  })

  it('that is a response matches filters about its request, also if that passed before holding began', async () => {
    const recorder = record()
    const screen = await attach(stage)
    await recorder.send(call(1, 'slow', { ms: 1_000 }))
    await until('it is told', () => screen.records().some(isMessage))
    await screen.tell({ type: 'breakpoints', filters: ['tool:slow dir:out'] })
    await screen.tell({ type: 'hold', on: true })
    const held = await screen.held()
    expect(held).toMatchObject({ reason: 'breakpoint', direction: 'server_to_client' })
    await screen.tell({ type: 'forward', message: held['message'] })
    await answerTo(recorder, 1)
    screen.close()
  })

  it('cannot be sent to a conversation that does not exist', async () => {
    const recorder = record()
    const screen = await attach(stage)
    const inject = { type: 'inject', direction: 'client_to_server', text: ping(1).trim() }
    const { error } = await screen.ask({ ...inject, conversation: 'connection-7' })
    expect(error).toMatchObject({ code: 'no-peer', message: 'no such conversation' })
    await screen.tell(inject)
    screen.close()
    await end(recorder)
  })
})
