import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as Client2025 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as Transport2025 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { describe, expect, it } from 'vitest'
import { cli, printed, server, until, type Actor, useStage } from '../behaviour/stage.js'
import { linesOfType, type Line } from '../behaviour/tape-bytes.js'

const stage = useStage()

async function serve(name: string): Promise<{ url: string; said: () => Line[] }> {
  const actor = stage.start(server(name))
  await printed(actor, '\n')
  const lines = (): string[] => actor.stdout().toString().split('\n')
  return {
    url: lines()[0]!,
    // The text after the last line break is empty, or an incomplete line.
    said: () =>
      lines()
        .slice(1, -1)
        .map((line): Line => JSON.parse(line)),
  }
}

async function record(upstream: string): Promise<{ recorder: Actor; url: string }> {
  const recorder = stage.start([process.execPath, cli, 'record', '--url', upstream, '--out', stage.out], {
    detached: true,
  })
  await printed(recorder, '\n')
  return { recorder, url: recorder.stdout().toString().trim() }
}

async function ended(recorder: Actor): Promise<void> {
  recorder.child.kill('SIGTERM')
  expect(await recorder.ended).toEqual({ exitCode: 0, signal: null })
}

/** Uses the features of a 2026-07-28 server; returns the outcomes, and the requests as the server saw them. */
async function use(upstream: Awaited<ReturnType<typeof serve>>, url: string): Promise<unknown> {
  const outcomes: unknown[] = []
  const step = async (name: string, run: () => Promise<unknown>): Promise<void> => {
    const outcome = await run().catch((error: unknown) => ({ error: String(error), ...(error as object) }))
    outcomes.push([name, outcome ?? null])
  }
  const client = new Client(
    { name: 'test-client', version: '2.0.0' },
    { capabilities: { elicitation: {} }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  )
  client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: { ok: true } }))
  let changes = 0
  client.setNotificationHandler('notifications/tools/list_changed', () => void (changes += 1))
  const tool = (name: string, args: Record<string, unknown> = {}): Promise<void> =>
    step(name, () => client.callTool({ name, arguments: args }))
  await step('connect', () => client.connect(new StreamableHTTPClientTransport(new URL(url))))
  outcomes.push(['server', [client.getServerVersion(), client.getServerCapabilities()]])
  await step('tools', () => client.listTools())
  await tool('echo', { text: 'ÅÄÖ 🎞', place: 'Malmö' })
  await tool('fail')
  await tool('book', { what: 'a table' })
  const reports: unknown[] = []
  await step('steps', () =>
    client.callTool({ name: 'steps' }, { onprogress: (report) => reports.push(report) }),
  )
  outcomes.push(reports)
  await step('cancelled', () => {
    const stop = new AbortController()
    return client.callTool({ name: 'slow' }, { signal: stop.signal, onprogress: () => stop.abort('enough') })
  })
  await until('the server hears of it', () => upstream.said().some(({ name, closed }) => closed && name))
  await step('listen', async () => {
    const subscription = await client.listen({ toolsListChanged: true })
    await client.callTool({ name: 'grow' })
    await until('the change is announced', () => changes > 0)
    await subscription.close()
    const hears = (): boolean => upstream.said().some(({ closed }) => closed === 'subscriptions/listen')
    await until('the server hears of the end', hears)
    return [subscription.honoredFilter, await subscription.closed, changes]
  })
  await tool('grown')
  await tool('no-such-tool')
  await step('no such method', () => client.request({ method: 'resources/read', params: { uri: 'x://y' } }))
  await step('close', () => client.close())
  // A stream that is closed and a request on another connection may overtake each other.
  const said = upstream.said()
  return { outcomes, came: said.filter(({ method }) => method), left: said.filter(({ closed }) => closed) }
}

/** The headers that 2026-07-28 derives from the body, of a request on the tape. */
function mirrored({ http }: Line): Record<string, string> {
  const pairs = (http.headers as [string, string][]).map(([name, value]) => [name.toLowerCase(), value])
  return Object.fromEntries(pairs.filter(([name]) => name!.startsWith('mcp-')))
}

describe('the official client, version 2, over HTTP in the 2026-07-28 era', () => {
  it('sees the same with and without the recorder, and all of it is on the tape', async () => {
    const alone = await serve('sdk-modern-http.mjs')
    const direct = await use(alone, alone.url)
    const upstream = await serve('sdk-modern-http.mjs')
    const { recorder, url } = await record(upstream.url)
    expect(await use(upstream, url)).toEqual(direct)
    for (const sign of ['Booked a table', '"closed":"tools/call"', '"closed":"subscriptions/listen"']) {
      expect(JSON.stringify(direct)).toContain(sign)
    }
    await ended(recorder)
    const tape = stage.tape()
    const messages = linesOfType(tape, undefined)
    const sent = messages.filter(({ dir }) => dir === 'in')
    const requests = sent.filter(({ raw }) => raw.id !== undefined)
    const called = (name: string): Line => requests.find(({ raw }) => raw.params.name === name)!
    const asked = (method: string): Line => requests.find(({ raw }) => raw.method === method)!

    // The tape has the requests as the server saw them.
    const arrived = upstream.said().filter(({ method }) => method)
    expect(sent.map((line) => ({ method: line.http.method, headers: mirrored(line) }))).toEqual(arrived)
    expect(requests[0]).toMatchObject({ raw: { method: 'server/discover' }, http: { path: '/mcp' } })
    expect(mirrored(called('echo'))).toEqual({
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'echo',
      'mcp-param-place': '=?base64?TWFsbcO2?=',
    })

    // Each request has a response in its own exchange, except those whose stream the client has closed.
    const [slow, listen] = [called('slow'), asked('subscriptions/listen')]
    for (const request of requests) {
      const answers = messages.filter(({ corr }) => corr === request.id)
      const exchanges = request === slow || request === listen ? [] : [request.http.exchange]
      expect(answers.map(({ http }) => http.exchange)).toEqual(exchanges)
      for (const { raw } of answers) expect(raw.id).toBe(request.raw.id)
    }
    const broken = linesOfType(tape, 'http').filter(({ why }) => why !== undefined)
    expect(broken.map(({ exchange }) => exchange)).toEqual([slow.http.exchange, listen.http.exchange])
    for (const { why } of broken) expect(why).toMatch(/^client: /)

    const streamed = (method: string): unknown[] =>
      messages
        .filter(({ raw }) => raw.method === method)
        .map(({ http, linked, sse }) => [http.exchange, linked, sse])
    const on = (request: Line, kind: string): unknown => [
      request.http.exchange,
      [{ kind, to: request.id }],
      { event: 'message' },
    ]
    const ofSteps = on(called('steps'), 'progress')
    const ofSlow = on(slow, 'progress')
    expect(streamed('notifications/progress')).toEqual([ofSteps, ofSteps, ofSteps, ofSlow])
    const ofListen = on(listen, 'subscription')
    expect(streamed('notifications/subscriptions/acknowledged')).toEqual([ofListen])
    expect(streamed('notifications/tools/list_changed')).toEqual([ofListen])

    // The client uses any free connection, so the retry may come on another one than the first request.
    const [first, retry] = requests.filter(({ raw }) => raw.params.name === 'book')
    const more = messages.find(({ corr }) => corr === first!.id)!
    expect(more.raw.result).toMatchObject({ resultType: 'input_required' })
    expect(retry!.raw.params.requestState).toBe('[REDACTED]')
    expect(more.raw.result.requestState).toBe('[REDACTED]')
    const [kept] = more.red
    expect(retry!.red).toEqual([{ at: '/params/requestState', tag: kept.tag }])
    expect(retry!.linked).toEqual([{ kind: 'round', to: first!.id }])

    const refused = messages.find(({ corr }) => corr === asked('resources/read').id)!
    expect(refused).toMatchObject({ raw: { error: { code: -32601 } }, http: { status: 404 } })
  })

  it('links the retries of clients that are asked for input at the same time, where it is certain', async () => {
    const upstream = await serve('sdk-modern-http.mjs')
    const { recorder, url } = await record(upstream.url)
    const things = ['a table', 'a room', 'a boat', 'a car']
    const client = new Client(
      { name: 'test-client', version: '2.0.0' },
      { capabilities: { elicitation: {} }, versionNegotiation: { mode: { pin: '2026-07-28' } } },
    )
    const waiting: (() => void)[] = []
    client.setRequestHandler('elicitation/create', async () => {
      // No client responds before all have been asked.
      await new Promise<void>((resolve) => {
        waiting.push(resolve)
        if (waiting.length === things.length) for (const goOn of waiting.toReversed()) goOn()
      })
      return { action: 'accept', content: { ok: true } }
    })
    await client.connect(new StreamableHTTPClientTransport(new URL(url)))
    await Promise.all(things.map((what) => client.callTool({ name: 'book', arguments: { what } })))
    await client.close()
    await ended(recorder)
    const calls = linesOfType(stage.tape(), undefined).filter(({ raw }) => raw.params?.name === 'book')
    const firsts = new Map(
      calls.slice(0, things.length).map(({ id, raw }) => [raw.params.arguments.what, id]),
    )
    const retries = calls.slice(things.length)
    expect(retries).toHaveLength(things.length)
    for (const { raw, linked } of retries) {
      expect(linked).toEqual([{ kind: 'round', to: firsts.get(raw.params.arguments.what) }])
    }
  })

  it('passes on the refusals of a server unchanged', async () => {
    const upstream = await serve('sdk-modern-http.mjs')
    const { recorder, url } = await record(upstream.url)
    const version = '2026-07-28'
    const envelope = (protocolVersion: string): object => ({
      'io.modelcontextprotocol/protocolVersion': protocolVersion,
      'io.modelcontextprotocol/clientCapabilities': {},
    })
    let asked = 0
    const post = (method: string, headers: Record<string, string>, _meta?: object): RequestInit => ({
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: (asked += 1), method, params: _meta ? { _meta } : {} }),
    })
    const modern = (name: string): Record<string, string> => ({
      'mcp-protocol-version': version,
      'mcp-method': name,
    })
    const cases: [status: number, code: number, request: RequestInit][] = [
      [404, -32601, post('no/such', modern('no/such'), envelope(version))],
      [400, -32020, post('tools/list', modern('prompts/list'), envelope(version))],
      [400, -32020, post('tools/list', { 'mcp-protocol-version': version }, envelope(version))],
      [
        400,
        -32022,
        post(
          'tools/list',
          { ...modern('tools/list'), 'mcp-protocol-version': '2099-01-01' },
          envelope('2099-01-01'),
        ),
      ],
      [400, -32602, post('tools/list', modern('tools/list'))],
    ]
    const ask = async (to: string, request: RequestInit): Promise<[number, string]> => {
      const response = await fetch(to, request)
      return [response.status, await response.text()]
    }
    for (const [status, code, request] of cases) {
      const direct = await ask(upstream.url, request)
      expect([direct[0], JSON.parse(direct[1]).error.code]).toEqual([status, code])
      expect(await ask(url, request)).toEqual(direct)
    }
    for (const method of ['GET', 'DELETE']) {
      const direct = await ask(upstream.url, { method })
      expect(direct[0]).toBe(405)
      expect(await ask(url, { method })).toEqual(direct)
    }
    await ended(recorder)
    const messages = linesOfType(stage.tape(), undefined)
    const requests = messages.filter(({ dir }) => dir === 'in')
    expect(requests).toHaveLength(cases.length)
    for (const [n, [status, code]] of cases.entries()) {
      const { exchange } = requests[n]!.http
      const answers = messages.filter(({ dir, http }) => dir === 'out' && http.exchange === exchange)
      expect(answers).toMatchObject([{ raw: { error: { code } }, http: { status } }])
      const { raw, id, seq } = requests[n]!
      const said = { id: answers[0]!.raw.id, corr: answers[0]!.corr, seq: answers[0]!.seq }
      expect(said).toEqual({ id: raw.id, corr: id, seq: seq + 1 })
    }
  })
})

describe('a stream of 2025 that is cut', () => {
  const work = async (url: string): Promise<unknown> => {
    const client = new Client2025({ name: 'c', version: '1' })
    const reconnectionOptions = {
      initialReconnectionDelay: 1,
      maxReconnectionDelay: 1,
      reconnectionDelayGrowFactor: 1,
      maxRetries: 2,
    }
    await client.connect(new Transport2025(new URL(url), { reconnectionOptions }))
    const cut: Promise<unknown>[] = []
    const onprogress = (): void => void cut.push(client.callTool({ name: 'cut' }))
    const outcome = await client.callTool({ name: 'work' }, undefined, { onprogress })
    const outcomes = [outcome, await Promise.all(cut)]
    await client.close()
    return outcomes
  }

  it('is resumed through the recorder, and the response on the later stream belongs to the request', async () => {
    const direct = await work((await serve('sdk-resumable-http.mjs')).url)
    const { recorder, url } = await record((await serve('sdk-resumable-http.mjs')).url)
    expect(await work(url)).toEqual(direct)
    expect(JSON.stringify(direct)).toContain('Worked')
    await ended(recorder)
    const tape = stage.tape()
    const messages = linesOfType(tape, undefined)
    const request = messages.find(({ raw }) => raw.params?.name === 'work')!
    const answer = messages.find(({ corr }) => corr === request.id)!
    expect(answer).toMatchObject({ raw: { result: {} }, conv: request.conv, sse: { id: expect.any(String) } })
    const http = linesOfType(tape, 'http')
    const broken = http.find(({ exchange, why }) => exchange === request.http.exchange && why !== undefined)!
    expect(broken.why).toMatch(/^upstream: /)
    const resumed = http.find(({ exchange }) => exchange === answer.http.exchange)!
    expect(resumed.method).toBe('GET')
    const headers = new Map<string, string>(resumed.requestHeaders)
    const report = messages.find(({ raw }) => raw.method === 'notifications/progress')!
    expect(headers.get('last-event-id')).toBe(report.sse.id)
  })
})
