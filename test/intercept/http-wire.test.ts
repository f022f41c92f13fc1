import { describe, expect, it } from 'vitest'
import { unchanged } from '../../src/intercept/decision.js'
import type { Offer } from '../../src/intercept/frame.js'
import type { HttpGatekeeper, HttpLanes } from '../../src/intercept/http-lanes.js'
import { createHttpWire } from '../../src/intercept/http-wire.js'
import type { Intercept } from '../../src/intercept/index.js'

const head = { exchange: 1, connection: 1, conversation: 'connection-1', path: '/mcp', headers: [] }

function stand(offered: (offer: Offer) => void): { keeper: HttpGatekeeper; steps: string[] } {
  const steps: string[] = []
  let keeper: HttpGatekeeper | undefined
  const lanes: HttpLanes = {
    setGatekeeper: (given) => void (keeper = given),
    talks: { posts: () => [], streams: () => [] },
    post() {
      steps.push('copy')
      return Promise.resolve({ status: 202, contentType: '', body: undefined })
    },
  }
  const intercept = {
    offer(offer: Offer) {
      queueMicrotask(() => offered(offer))
      return { ...unchanged, verdict: 'hold' as const, id: 'x' }
    },
  } as unknown as Intercept
  const recorder = { enter: () => undefined, toolHeaders: () => Promise.resolve(undefined) }
  createHttpWire(lanes, intercept, recorder, 'streamable-http').setGated(true)
  return { keeper: keeper!, steps }
}

describe('a gated HTTP transport', () => {
  it('accepts a dropped answer of a client, as a server does', async () => {
    const { keeper } = stand(({ settle }) =>
      settle('x', { ...unchanged, verdict: 'drop', why: 'because' }, 0),
    )
    const body = Buffer.from('{"jsonrpc":"2.0","id":"w","result":{}}')
    expect(await keeper.request(head, body)).toEqual({ kind: 'answer', status: 202, why: 'because' })
  })

  it('repeats a request after it went on', async () => {
    const { keeper, steps } = stand(({ settle }) => settle('x', { ...unchanged, copies: 1 }, 0))
    const body = Buffer.from('{"jsonrpc":"2.0","id":1,"method":"ping"}')
    await keeper.request(head, body)
    steps.push('original')
    await new Promise((done) => setImmediate(done))
    expect(steps).toEqual(['original', 'copy'])
  })

  it.each([
    [404, 'text/plain', 'no session', 'the server responded with status 404 and no response'],
    [
      404,
      'application/json',
      '{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}',
      'the server responded with status 404: Session not found',
    ],
    [202, '', '', 'the server responded with status 202 and no response'],
    [200, 'text/event-stream', ': x\n\n', 'the server responded with status 200 and no response'],
  ])('says what a server says to a request of ours without answering it (%i %s)', async (...came) => {
    const [status, contentType, body, words] = came
    const lanes: HttpLanes = {
      setGatekeeper: () => undefined,
      talks: { posts: () => [head], streams: () => [] },
      post: () => Promise.resolve({ status, contentType, body: Buffer.from(body) }),
    }
    const ledger = { enter: () => undefined, toolHeaders: () => Promise.resolve(undefined) }
    const wire = createHttpWire(lanes, {} as Intercept, ledger, 'streamable-http')
    const text = '{"jsonrpc":"2.0","id":"w","method":"ping"}'
    const { conversation } = head
    const { answer } = wire.inject({ id: 'x', direction: 'client_to_server', text, conversation })
    await expect(answer).rejects.toMatchObject({ code: 'no-answer', message: words })
  })
})
