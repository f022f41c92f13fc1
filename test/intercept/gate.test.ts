import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { requestKey } from '../../src/intercept/exchange-key.js'
import type { Decision } from '../../src/intercept/decision.js'
import type { Settle } from '../../src/intercept/frame.js'
import { Gate } from '../../src/intercept/gate.js'
import { Intercept } from '../../src/intercept/index.js'
import { readFrame } from '../../src/wire/index.js'

const nobody = { held: () => undefined, changed: () => undefined, released: () => undefined }

interface Bench {
  readonly gate: Gate
  /** Forwarded and dropped messages, in order. */
  readonly done: string[]
  readonly come: (text: string) => void
}

function bench(decide: (raw: string) => Partial<Decision> | undefined, holdTimeoutMs?: number): Bench {
  const done: string[] = []
  const gate = new Gate(
    {
      hold: false,
      breakpoints: [],
      everything: false,
      order: 'exchange',
      holdTimeoutMs,
      rules: {
        names: [],
        mayConcern: () => true,
        decide({ text }) {
          const decision = decide(text)
          const usual = { verdict: 'forward', rule: 'r', delayMs: 0, copies: 0, answers: [] } as const
          return decision && { ...usual, ...decision }
        },
      },
    },
    nobody,
  )
  function come(text: string): void {
    const settle: Settle = (_, { verdict }) => void done.push(verdict === 'forward' ? text : `not ${text}`)
    const place = { direction: 'server_to_client', transport: 'stdio', conversation: '' } as const
    const judgement = gate.offer({ ...readFrame(text)!, ...place, wallMs: 0, settle })
    if (judgement?.verdict !== 'hold') done.push(text)
  }
  return { gate, done, come }
}

const progress = '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":5}}'
const answer = '{"jsonrpc":"2.0","id":1,"result":{}}'
const request =
  '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","_meta":{"progressToken":5}}}'

function ask(gate: Gate): void {
  const place = { direction: 'client_to_server', transport: 'stdio', conversation: '' } as const
  gate.offer({ ...readFrame(request)!, ...place, wallMs: 0, settle: () => undefined })
}

describe('a message whose time has come', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it.each([['forward', answer] as const, ['drop', `not ${answer}`] as const])(
    'waits until it is first in its exchange, then has its rule (%s) at once',
    (verdict, last) => {
      const { gate, done, come } = bench((raw) => {
        if (raw === progress) return { delayMs: 500 }
        return raw === answer ? { verdict, delayMs: 100 } : undefined
      })
      ask(gate)
      come(progress)
      come(answer)
      vi.advanceTimersByTime(400)
      expect(done).toEqual([])
      vi.advanceTimersByTime(100)
      expect(done).toEqual([progress, last])
      expect(gate.held.size).toBe(0)
    },
  )

  it('does not overtake a slower one of its exchange when holding times out', () => {
    const { gate, done, come } = bench((raw) => {
      if (raw === progress) return { delayMs: 500 }
      return raw === answer ? { verdict: 'hold' } : undefined
    }, 100)
    ask(gate)
    come(progress)
    come(answer)
    come(progress.replace('5', '5 '))
    vi.advanceTimersByTime(499)
    expect(done).toEqual([])
    vi.advanceTimersByTime(1)
    expect(done).toEqual([progress, answer, progress.replace('5', '5 ')])
  })

  it('leaves what a person holds where it is', () => {
    const { gate, done, come } = bench((raw) => {
      if (raw === progress) return { verdict: 'hold' }
      return raw === answer ? { delayMs: 100 } : undefined
    })
    ask(gate)
    come(progress)
    come(answer)
    vi.advanceTimersByTime(1000)
    expect(done).toEqual([])
    gate.forward([...gate.held.values()][0]!, 'screen')
    expect(done).toEqual([progress, answer])
  })
})

describe('a request that a rule delays and gives another id', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('does not go on under an id that another request has taken meanwhile', () => {
    const text = '{"jsonrpc":"2.0","id":77,"method":"ping"}'
    const { gate } = bench((raw) => (raw.includes('"id":1,') ? { text, delayMs: 500 } : undefined))
    const done: unknown[] = []
    const settle: Settle = (_, decision) => done.push(decision)
    const place = { direction: 'client_to_server', transport: 'stdio', conversation: '' } as const
    const offer = (raw: string): unknown => gate.offer({ ...readFrame(raw)!, ...place, wallMs: 0, settle })
    offer('{"jsonrpc":"2.0","id":1,"method":"ping"}')
    offer(text)
    vi.advanceTimersByTime(500)
    const problem = 'rule r cannot be applied: a request with this id still waits for its response'
    const error = `{"code":-32603,"message":"wiretape: ${problem}"}`
    expect(done).toMatchObject([
      { verdict: 'drop', why: problem, rule: 'r', answers: [`{"jsonrpc":"2.0","id":1,"error":${error}}`] },
    ])
    expect(gate.held.size).toBe(0)
  })
})

describe('a batch that a rule delays and gives other ids', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('goes on without the requests whose ids others have taken meanwhile; these get errors', () => {
    const [own, other, result] = [
      '{"jsonrpc":"2.0","id":1,"method":"ping"}',
      '{"jsonrpc":"2.0","id":2,"method":"ping"}',
      '{"jsonrpc":"2.0","id":9,"result":{}}',
    ]
    const renamed = (text: string): string => text.replace('"id":', '"id":7')
    const { gate } = bench((raw) =>
      raw.startsWith('[')
        ? { text: `[${renamed(own)},${renamed(other)},${result}]`, delayMs: 500 }
        : undefined,
    )
    const done: unknown[] = []
    const settle: Settle = (_, { verdict, text, kept, answers }) =>
      done.push({ verdict, text, kept, answers })
    const place = { direction: 'client_to_server', transport: 'stdio', conversation: '' } as const
    const offer = (raw: string): unknown => gate.offer({ ...readFrame(raw)!, ...place, wallMs: 0, settle })
    offer(`[${own},${other},${result}]`)
    offer(renamed(own))
    vi.advanceTimersByTime(500)
    const problem = 'rule r cannot be applied: a request with this id still waits for its response'
    const error = `{"code":-32603,"message":"wiretape: ${problem}"}`
    expect(done).toEqual([
      {
        verdict: 'forward',
        text: `[${renamed(other)},${result}]`,
        kept: [1, 2],
        answers: [`{"jsonrpc":"2.0","id":1,"error":${error}}`],
      },
    ])
  })
})

describe('the id of a request of ours', () => {
  const ours = requestKey('', 'client_to_server', '1')

  it('cannot be that of a request which waits for its answer', () => {
    const { gate } = bench(() => undefined)
    ask(gate)
    expect(() => gate.expect(ours, () => undefined)).toThrow('still waits for its response')
    const other = requestKey('', 'client_to_server', '2')
    gate.expect(other, () => undefined)
    expect(() => gate.expect(other, () => undefined)).toThrow('still waits for its response')
  })

  it.each(['answered', 'given up'])(
    'keeps a request of the same id waiting until ours is %s',
    async (how) => {
      const { gate, done, come } = bench(() => undefined)
      const got: string[] = []
      const key = requestKey('', 'client_to_server', '1')
      const expected = gate.expect(key, (text) => void got.push(text))
      const settle: Settle = (_, { verdict }) => void done.push(verdict === 'forward' ? 'theirs' : verdict)
      const place = { direction: 'client_to_server', transport: 'stdio', conversation: '' } as const
      expect(gate.offer({ ...readFrame(request)!, ...place, wallMs: 0, settle })?.verdict).toBe('hold')
      expect(done).toEqual([])
      if (how === 'given up') expected.cancel()
      else come(answer)
      await Promise.resolve()
      expect(done).toEqual(how === 'given up' ? ['theirs'] : ['theirs', `not ${answer}`])
      expect(got).toEqual(how === 'given up' ? [] : [answer])
      come(answer)
      expect(done.at(-1)).toBe(answer)
    },
  )
})

describe('a message of ours', () => {
  function sender(): Intercept {
    const options = { hold: false, breakpoints: [], awaitScreen: false, onDetach: 'forward' } as const
    const observer = { ...nobody, stateChanged: () => undefined, notice: () => undefined }
    const intercept = new Intercept({ ...options, order: 'exchange', holdTimeoutMs: undefined }, observer)
    intercept.connect({ setGated: () => undefined, conversationFor: () => '', inject: () => ({}) })
    return intercept
  }

  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('whose answer has not come when the session ends is not waited for', async () => {
    const intercept = sender()
    const ping = '{"jsonrpc":"2.0","id":"p","method":"ping"}'
    const sending = intercept.sender.inject('server_to_client', ping, { keepAnswer: true })
    intercept.close()
    await expect(sending).rejects.toMatchObject({ code: 'no-answer' })
    expect(vi.getTimerCount()).toBe(0)
  })

  const ping = '{"jsonrpc":"2.0","id":"p","method":"ping"}'
  const pong = '{"jsonrpc":"2.0","id":"p","result":{}}'
  const inject = (intercept: Intercept): Promise<unknown> =>
    intercept.sender.inject('server_to_client', ping, { keepAnswer: true })

  async function waitsInVain(intercept: Intercept): Promise<void> {
    const failed = inject(intercept).catch((error: unknown) => error)
    vi.advanceTimersByTime(60_000)
    expect(await failed).toMatchObject({ code: 'no-answer' })
  }

  /** Passes a message of one side to the gate. @returns its outcome */
  async function comes(
    intercept: Intercept,
    text: string,
    direction: 'client_to_server' | 'server_to_client',
  ): Promise<string> {
    let became = 'passed'
    const settle: Settle = (_, { verdict }) => void (became = verdict)
    const place = { direction, transport: 'stdio', conversation: '' } as const
    intercept.offer({ ...readFrame(text)!, ...place, wallMs: 0, settle })
    await Promise.resolve()
    return became
  }

  it('whose response comes after 60 s is still not passed on: no client requested it', async () => {
    const intercept = sender()
    await waitsInVain(intercept)
    await expect(inject(intercept)).rejects.toMatchObject({ code: 'invalid' })
    expect(await comes(intercept, pong, 'client_to_server')).toBe('drop')
    expect(await comes(intercept, pong, 'client_to_server')).toBe('passed')
  })

  it('gives up its id to a request of a peer', async () => {
    const intercept = sender()
    await waitsInVain(intercept)
    expect(await comes(intercept, ping, 'server_to_client')).toBe('passed')
    expect(await comes(intercept, pong, 'client_to_server')).toBe('passed')
  })

  it('is refused while 256 are under way', () => {
    const { sender: own } = sender()
    const releases = Array.from({ length: 256 }, () => own.reserve())
    expect(() => own.reserve()).toThrow('256 injected requests are waiting for responses')
    releases[0]!()
    releases[0]!()
    own.reserve()
    expect(() => own.reserve()).toThrow('256')
  })
})
