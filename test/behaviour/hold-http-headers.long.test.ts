import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { describe, expect, it } from 'vitest'
import { attach } from './attach.js'
import { isMessage, post, useHttpStage } from './http-stage.js'
import { printed, server, until, type Actor } from './stage.js'
import type { Line } from './tape-bytes.js'

const stage = useHttpStage()

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'c', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** A client whose headers repeat values of its body. */
function ask(url: string, id: number, method: string, params: Line = {}): Promise<string> {
  const name = params['name'] === undefined ? {} : { 'mcp-name': params['name'] as string }
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': method, ...name }
  return post(url, { id, method, params: { ...params, _meta: meta } }, headers).then(({ text }) => text)
}

const echo = (text: string, place?: string): Line => ({
  name: 'echo',
  arguments: { text, ...(place !== undefined && { place }) },
})

const asCall = (held: Line, params: Line): string => {
  const { id } = JSON.parse(held['text'] as string) as Line
  return JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { ...params, _meta: meta } })
}

interface Stand {
  readonly recorder: Actor
  readonly url: string
  /** Headers of the n-th tool call at the server. */
  readonly callAt: (n: number) => Promise<Line>
}

/** The official server. Its tool `echo` requires its argument `place` also in the header `Mcp-Param-Place`. */
async function officialServer(options: readonly string[] = [], rules?: string): Promise<Stand> {
  const upstream = stage.start(server('sdk-modern-http.mjs'))
  await printed(upstream, '\n')
  const lines = (): string[] => upstream.stdout().toString().split('\n')
  const { recorder, url } = await stage.recordUrl(lines()[0]!, options, rules)
  const calls = (): Line[] =>
    lines()
      .slice(1, -1)
      .flatMap((line) => (JSON.parse(line) as { headers?: Line }).headers ?? [])
      .filter((headers) => headers['mcp-method'] === 'tools/call')
  const callAt = (n: number): Promise<Line> =>
    until(`the server says that it got call ${n}`, () => calls()[n - 1])
  return { recorder, url, callAt }
}

describe('a header that the schema of a tool requires', () => {
  it('is added when an edited call needs it, in base64 if necessary', async () => {
    const { recorder, url, callAt } = await officialServer(['--break', 'is:request -method:tools/list'])
    await ask(url, 1, 'tools/list')
    const screen = await attach(stage)
    const places = ['Berlin', 'Malmö', ' padded ', '=?base64?no?=', '']
    for (const [n, place] of places.entries()) {
      const answer = ask(url, 10 + n, 'tools/call', echo('x'))
      const held = await screen.held(n + 1)
      const text = asCall(held, echo('edited', place))
      await screen.tell({ type: 'edit', message: held['message'], text })
      expect(await answer).toContain('edited')
    }
    const written = [
      'Berlin',
      '=?base64?TWFsbcO2?=',
      '=?base64?IHBhZGRlZCA=?=',
      '=?base64?PT9iYXNlNjQ/bm8/PQ==?=',
      // The encoding of the official client: an empty header may get lost on the way.
      '=?base64??=',
    ]
    const got = await Promise.all(places.map((_, n) => callAt(n + 1)))
    expect(got.map((headers) => headers['mcp-param-place'] as unknown)).toEqual(written)
    screen.close()
    await stage.end(recorder)
  })

  it('is added when an edit turns another request into a call, and removed with the argument', async () => {
    const { recorder, url, callAt } = await officialServer()
    await ask(url, 1, 'tools/list')
    const screen = await attach(stage)
    await screen.tell({ type: 'breakpoints', filters: ['is:request'] })
    await screen.tell({ type: 'hold', on: true })
    const became = ask(url, 2, 'tools/list')
    const held = await screen.held()
    await screen.tell({ type: 'edit', message: held['message'], text: asCall(held, echo('made', 'Oslo')) })
    expect(await became).toContain('made')
    expect(await callAt(1)).toMatchObject({ 'mcp-name': 'echo', 'mcp-param-place': 'Oslo' })
    // The official client sends the header itself.
    const client = new Client(
      { name: 'c', version: '1' },
      { capabilities: {}, versionNegotiation: { mode: { pin: '2026-07-28' } } },
    )
    await screen.tell({ type: 'breakpoints', filters: ['method:tools/call is:request'] })
    await client.connect(new StreamableHTTPClientTransport(new URL(url)))
    await client.listTools()
    const less = client.callTool({ name: 'echo', arguments: { text: 'less', place: 'Oslo' } })
    const second = await screen.held(2)
    const text = (second['text'] as string).replace(',"place":"Oslo"', '')
    await screen.tell({ type: 'edit', message: second['message'], text })
    expect(JSON.stringify(await less)).toContain('less')
    expect(await callAt(2)).not.toHaveProperty('mcp-param-place')
    await client.close()
    screen.close()
    await stage.end(recorder)
  })

  it('is added to messages that a rule changes, that a user sends, and that replay sends', async () => {
    const rules =
      "rules: [{ name: move, when: 'tool:echo id:2', set: { '$.params.arguments.place': 'Rom' } }]"
    const { recorder, url, callAt } = await officialServer([], rules)
    await ask(url, 1, 'tools/list')
    expect(await ask(url, 2, 'tools/call', echo('ruled'))).toContain('ruled')
    expect(await callAt(1)).toMatchObject({ 'mcp-param-place': 'Rom' })
    const screen = await attach(stage)
    const injected = asCall({ text: '{"id":77}' }, echo('injected', 'Wien'))
    const { answer } = await screen.tell({ type: 'inject', direction: 'client_to_server', text: injected })
    expect(answer).toContain('injected')
    expect(await callAt(2)).toMatchObject({ 'mcp-name': 'echo', 'mcp-param-place': 'Wien' })
    const isCall = (line: Line): boolean =>
      isMessage(line) && (line['raw'] as Line)['method'] === 'tools/call' && line['seq'] === 2
    const call = await screen.event(
      'the call is told',
      ({ line }) => line !== undefined && isCall(line as Line),
    )
    const message = (call['line'] as Line)['id']
    const text = asCall({ text: '{"id":2}' }, echo('again', 'Bern'))
    const again = await screen.tell({ type: 'replay', message, text })
    expect(again['answer']).toContain('again')
    expect(await callAt(3)).toMatchObject({ 'mcp-param-place': 'Bern' })
    screen.close()
    await stage.end(recorder)
  })

  it('is left alone, with a notice, while no list of tools has passed', async () => {
    const { recorder, url } = await officialServer(['--break', 'method:tools/call is:request'])
    const screen = await attach(stage)
    const answer = ask(url, 1, 'tools/call', echo('x'))
    const held = await screen.held()
    await screen.tell({ type: 'edit', message: held['message'], text: asCall(held, echo('x', 'Berlin')) })
    // The error text of the official server.
    expect(await answer).toContain('Mcp-Param-Place header is absent')
    const { message } = await screen.event('it is said', ({ type }) => type === 'notice')
    expect(message).toContain('the tool "echo" is in no recorded tools/list response')
    screen.close()
    const lines = await stage.end(recorder)
    expect(lines.find(({ type }) => type === 'note')?.['text']).toBe(message)
  })

  it('is left alone if its sender set another value, or none, on purpose', async () => {
    const { recorder, url, callAt } = await officialServer(['--break', 'method:tools/call is:request'])
    await ask(url, 1, 'tools/list')
    const screen = await attach(stage)
    const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'echo' }
    for (const [n, said] of [{}, { 'mcp-param-place': 'elsewhere' }].entries()) {
      const body = { id: n + 2, method: 'tools/call', params: { ...echo('x', 'Oslo'), _meta: meta } }
      const answer = post(url, body, { ...headers, ...said })
      const held = await screen.held(n + 1)
      await screen.tell({ type: 'edit', message: held['message'], text: asCall(held, echo('x', 'Bern')) })
      expect((await answer).status).toBe(400)
      expect((await callAt(n + 1))['mcp-param-place']).toBe(said['mcp-param-place' as keyof typeof said])
    }
    screen.close()
    await stage.end(recorder)
  })
})
