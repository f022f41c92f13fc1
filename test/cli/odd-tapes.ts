/** Tapes as our recorder writes them, with whatever else a tape may hold strewn among plain messages. */
import { identity } from '../fixtures/identity.mjs'

/** Numbers from 0 to below 1, the same for the same seed. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0 || 1
  return () => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) / 2 ** 32
  }
}

const tools = ['pay', 'find', 'read file', 'grüße', 'x'.repeat(250)]

/** The bytes of a tape. */
export function oddTape(seed: number, messages = 60): Buffer {
  const random = randomOf(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  const once = (share: number): boolean => random() < share
  const isHttp = once(0.4)
  const lines: string[] = []
  let seq = 0
  let us = 1000
  const id = (n: number): string => `${`${n}`.padStart(8, '0')}-1111-4111-8111-000000000000`
  const t = (): string => new Date(Date.UTC(2026, 7, 1) + us / 1000).toISOString()
  /** Requests without an answer, by side. */
  const open: {
    readonly seq: number
    readonly rpc: string
    readonly fromServer: boolean
    readonly http: object
  }[] = []
  let exchange = 0

  function put(raw: string, fromServer: boolean, more: object): void {
    us += Math.floor(random() * 5000)
    const head = `{"t":"${t()}","dir":"${fromServer ? 'out' : 'in'}","raw":${raw},"id":"${id(seq)}"`
    lines.push(`${head},${JSON.stringify({ seq, us, ...more }).slice(1)}`)
    seq += 1
  }

  function context(more: object = {}): object {
    if (!isHttp) return {}
    exchange += 1
    return { conv: pick(['one', 'two']), http: { exchange: once(0.8) ? exchange : exchange - 1, ...more } }
  }

  function ask(): void {
    const fromServer = once(0.2)
    const rpc = pick([String(seq), `"r${seq}"`, `${seq}.0`, '7'])
    const name = JSON.stringify(pick(tools))
    const more = pick([
      '',
      `,"_meta":{"progressToken":${seq}}`,
      ',"_meta":{"x":1}',
      ',"uri":"a:b"',
      ',"name":"twice"',
    ])
    const args = pick([
      '{}',
      `{"q":"needle ${Math.floor(random() * 4)}"}`,
      '{ "a" : [1.50, null] }',
      '{"ü":"\\u006eeedle"}',
    ])
    const params = `{"name":${name},"arguments":${args}${more}}`
    const method = fromServer
      ? pick(['elicitation/create', 'sampling/createMessage', 'ping'])
      : pick(['tools/call', 'tools/call', 'tools/call', 'resources/read', 'tools/list', 'server/discover'])
    const http = context({ method: 'POST' })
    open.push({ seq, rpc, fromServer, http })
    const raw = `{"jsonrpc":"2.0","id":${rpc},"method":"${method}","params":${params}}`
    if (once(0.08))
      lines.push(
        `{"t":"${t()}","type":"held","dir":"${fromServer ? 'out' : 'in'}","raw":${raw},"id":"${id(seq)}","seq":${seq},"us":${us}}`,
      )
    const touched = pick([{}, {}, {}, { heldMs: 3 }, { modified: true }, { injected: true }])
    if (once(0.04)) {
      lines.push(`{"t":"${t()}","type":"dropped","id":"${id(seq)}","why":"a person"}`)
      seq += 1
    } else put(raw, fromServer, { ...http, ...(once(0.1) ? touched : {}) })
  }

  function answer(): void {
    const i = Math.floor(random() * open.length)
    const asked = open[i]
    if (!asked) return ask()
    if (once(0.9)) open.splice(i, 1)
    const said = pick([
      '"result":{"content":[{"type":"text","text":"found a needle"}]}',
      '"result":{"content":[],"isError":true}',
      '"result":{"tools":[{"name":"pay"},{"name":"never"}]}',
      '"result":{"resultType":"input_required"}',
      '"error":{"code":-32000,"message":"no such näme"}',
      '"error":{"code":-32602,"message":"timeout","data":{"a":[]}}',
    ])
    const more = {
      ...(once(0.9) && { corr: id(asked.seq) }),
      ...(once(0.06) && { late: true }),
      ...asked.http,
    }
    put(`{"jsonrpc":"2.0","id":${asked.rpc},${said}}`, !asked.fromServer, more)
  }

  function strange(): void {
    const about = id(Math.floor(random() * (seq + 1)))
    const link = { linked: [{ kind: pick(['cancel', 'progress']), to: about }] }
    switch (Math.floor(random() * 10)) {
      case 0:
        return put('{"jsonrpc":"2.0","method":"notifications/progress","params":{}}', true, link)
      case 1:
        return put(
          '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}',
          once(0.5),
          link,
        )
      case 2:
        return void lines.push(`{"type":"stderr","t":"${t()}","us":${us},"text":"a needle in stderr"}`)
      case 3:
        return void lines.push(
          pick(['', '   ', 'broken', '{"a":', '[]', '{"type":"later","x":"needle"}', `"${'y'.repeat(300)}"`]),
        )
      case 4:
        return void lines.push(`{"type":"undelivered","t":"${t()}","id":"${about}","why":"gone"}`)
      case 5:
        return void lines.push(
          `{"type":"note","t":"${t()}","text":"a needle of a person","about":"${about}"}`,
        )
      case 6:
        return put(
          `[{"jsonrpc":"2.0","id":${seq},"method":"tools/call","params":{"name":"pay"}},{"jsonrpc":"2.0","method":"x"}]`,
          false,
          {},
        )
      case 7:
        return put('{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":"needle"}}', true, {})
      case 8:
        return void lines.push(
          `{"type":"http","t":"${t()}","us":${us},"exchange":${exchange},"method":"GET","path":"/needle","status":404,"why":"client: closed"}`,
        )
      default:
        return put(
          '{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"clientInfo":{"name":"me","version":"1"}}}',
          false,
          {},
        )
    }
  }

  const meta = { v: 1, type: 'meta', startedAt: '2026-08-01T00:00:00.000Z', label: 'odd', command: ['s'] }
  const transport = isHttp ? 'streamable-http' : 'stdio'
  const own = { ...identity, transport }
  if (once(0.9)) lines.push(JSON.stringify({ ...meta, ...(once(0.9) && { wiretape: own }) }))
  for (let i = 0; i < messages; i += 1) {
    const chance = random()
    if (chance < 0.4) ask()
    else if (chance < 0.85) answer()
    else strange()
    if (once(0.01)) lines.push(JSON.stringify({ ...meta, wiretape: { ...own, session: `S${i}` } }))
  }
  if (once(0.8))
    lines.push(`{"t":"${t()}","type":"end","exitCode":0,"durationMs":5,"wiretape":{"messages":${seq}}}`)
  if (once(0.1)) ask()
  const text = `${once(0.1) ? '\ufeff' : ''}${lines.join(once(0.1) ? '\r\n' : '\n')}${once(0.8) ? '\n' : ''}`
  const bytes = Buffer.from(text)
  // Some of them are damaged.
  for (let i = 0; once(0.15) && i < 5; i += 1)
    bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256)
  return bytes
}

/** Members that only wiretape's recorder writes. */
const names = /,"(?:id":"[^"]{36}"|corr":"[^"]{36}"|late":true|seq":\d+|us":\d+)/g

/** As the tape of another recorder. @param share of data that is missing, in sevenths */
export function nameless(tape: Buffer, share: number): Buffer {
  let n = 0
  const text = tape.toString().replaceAll(names, (found) => (n++ % 7 < share ? '' : found))
  return Buffer.from(share === 7 ? text.replace(/,"wiretape":\{.*/, ',"x":0}') : text)
}

/** The messages of a tape, one per line. */
export function messagesOf(tape: Buffer): Buffer {
  const lines = tape.toString('latin1').split('\n')
  const raws = lines.map((line) => /"raw":(.*?)(?:,"(?:id|seq|us|batch)":|\}$)/.exec(line)?.[1] ?? line)
  return Buffer.from(raws.join('\n'), 'latin1')
}
