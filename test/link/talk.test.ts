import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AnswerSink } from '../../src/link/server/answer-sink.js'
import type { EventStream } from '../../src/link/server/event-stream.js'
import { startTalk, type Party, type Talk } from '../../src/link/bridge/talk.js'
import { startServer } from '../../src/transports/index.js'
import { until } from '../behaviour/stage.js'
import { messagesIn, type Message } from '../../src/wire/index.js'

/**
 * A server that sends the messages it is asked to send, and responds to `answer` only. It repeats lines that are not
 * requests on stderr.
 */
const server = `
  const { createInterface } = require('node:readline')
  createInterface(process.stdin).on('line', (line) => {
    const { id, method, params = {} } = JSON.parse(line)
    if (params.say) process.stdout.write(params.say.replace('TOKEN', JSON.stringify(params._meta?.progressToken)) + '\\n')
    if (method === 'answer') process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result: {} }) + '\\n')
    if (method === undefined || id === undefined) process.stderr.write(line + '\\n')
  })`

let talk: Talk
let heard = ''
beforeEach(async () => {
  heard = ''
  const started = await startTalk({
    command: [process.execPath, '-e', server],
    shared: true,
    start: startServer,
    watch: () => undefined,
    onStray: () => undefined,
    onGuess: () => undefined,
    onErrors: (chunk) => (heard += String(chunk)),
    onMessage: () => undefined,
    onExit: () => undefined,
  })
  if (typeof started === 'string') throw new Error(started)
  talk = started
})
afterEach(() => talk.stop())

interface Client extends Party {
  /** Messages on the streams of the client's requests. */
  readonly asked: string[]
  /** Messages on the client's own stream. */
  readonly own: string[]
  readonly answers: string[]
  request(text: object): Promise<{ cancel(): void }>
  tell(text: object): Promise<void>
}

const messageOf = (value: object): Message => messagesIn(JSON.stringify({ jsonrpc: '2.0', ...value }))![0]!

function client(): Client {
  const [asked, own, answers]: [string[], string[], string[]] = [[], [], []]
  const sink: AnswerSink = {
    streams: true,
    message: (text) => void asked.push(text),
    answer: ({ text }) => void answers.push(text),
  }
  const party = { stream: { message: (text: string) => void own.push(text) } as unknown as EventStream }
  talk.parties.add(party)
  return {
    ...party,
    asked,
    own,
    answers,
    request: (value) => talk.request(messageOf(value), sink, party),
    tell: (value) => talk.tell(messageOf(value), party),
  }
}

const text = (value: object): string => JSON.stringify({ jsonrpc: '2.0', ...value })
const changed = text({ method: 'notifications/tools/list_changed' })

describe('a server process that clients share', () => {
  it('is asked under ids of ours; answers and progress have the clients own', async () => {
    const [one, other] = [client(), client()]
    const progress =
      '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":TOKEN,"progress":1}}'
    for (const [who, n] of [
      [one, 1],
      [other, 2],
    ] as const)
      await who.request({
        id: 7,
        method: 'answer',
        params: { _meta: { progressToken: 'p' }, n, say: progress },
      })
    await until('both are answered', () => one.answers.length + other.answers.length === 2)
    for (const { asked, answers } of [one, other]) {
      expect(answers).toEqual([text({ id: 7, result: {} })])
      expect(asked).toEqual([progress.replace('TOKEN', '"p"')])
    }
  })

  it('asks who asked it last, and takes that back from the same one', async () => {
    const [one, other] = [client(), client()]
    const question = text({ id: 1, method: 'roots/list' })
    const takenBack = text({ method: 'notifications/cancelled', params: { requestId: 1 } })
    await one.request({ id: 7, method: 'wait', params: { say: question } })
    await until('it asks', () => one.asked.length > 0)
    await other.request({ id: 7, method: 'wait', params: { say: takenBack } })
    await until('it takes that back', () => one.asked.length > 1)
    expect([one.asked, other.asked]).toEqual([[question, takenBack], []])
  })

  it('sends notifications to all clients, once to each', async () => {
    const [one, other] = [client(), client()]
    await one.request({ id: 7, method: 'wait', params: { say: changed } })
    await until('all are told', () => one.asked.length + other.own.length === 2)
    expect([one.asked, one.own, other.asked, other.own]).toEqual([[changed], [], [], [changed]])
  })

  it('speaks on the own stream of a client that waits for nothing any more', async () => {
    const one = client()
    await one.request({ id: 7, method: 'wait' })
    expect(talk.idle).toBe(false)
    await one.tell({ method: 'notifications/cancelled', params: { requestId: 7, say: changed } })
    await until('it is told', () => one.own.length > 0)
    expect([one.own, one.asked, talk.idle]).toEqual([[changed], [], true])
    const [, sentId] = await until('it has heard', () => /"requestId":("[^"]+")/.exec(heard) ?? undefined)
    expect(sentId).toMatch(/^"[0-9a-f]{8}-1"$/)
  })
})
