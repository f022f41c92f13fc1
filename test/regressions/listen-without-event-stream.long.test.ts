import { expect, it } from 'vitest'
import { cli, printed, server, until, useStage } from '../behaviour/stage.js'
import { linesOfTape, type Line } from '../behaviour/tape-bytes.js'
import { wiretape } from '../behaviour/run-cli.js'

const stage = useStage()

/** A recorder of the server, and a client of it that takes no event stream. */
async function listen(...options: string[]) {
  const argv = [process.execPath, cli, 'record', '--listen', '127.0.0.1:0', '--out', stage.out, ...options]
  const recorder = stage.start([...argv, '--', ...server('unasked-mcp.mjs')], { detached: true })
  await printed(recorder, '\n')
  const url = recorder.stdout().toString().trim()
  let session: string | undefined
  const post = (message: object, signal?: AbortSignal): Promise<Response> =>
    fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(session !== undefined && { 'mcp-session-id': session, 'mcp-protocol-version': '2025-06-18' }),
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
      ...(signal && { signal }),
    })
  const clientInfo = { name: 'deaf', version: '1' }
  const params = { protocolVersion: '2025-06-18', capabilities: { roots: {} }, clientInfo }
  const opened = await post({ id: 1, method: 'initialize', params })
  await opened.text()
  session = opened.headers.get('mcp-session-id') ?? undefined
  await (await post({ method: 'notifications/initialized' })).text()
  // Messages during an open request would come with its response.
  await until('the server has spoken', () => recorder.stderr().includes('all is said'))
  await (await post({ id: 2, method: 'ping' })).text()
  return {
    post,
    leave: () => fetch(url, { method: 'DELETE', headers: { 'mcp-session-id': session! } }),
    end: async (): Promise<{ lines: Line[]; stderr: string }> => {
      recorder.child.kill('SIGTERM')
      expect(await recorder.ended).toEqual({ exitCode: 0, signal: null })
      return { lines: linesOfTape(stage.tape()), stderr: recorder.stderr().toString() }
    },
  }
}

const methodsOf = (lines: readonly Line[]): string[] =>
  lines.flatMap(({ dir, raw }) => (dir === 'out' && raw.method ? [raw.method] : []))
const unasked = ['roots/list', 'notifications/tools/list_changed', 'notifications/tools/list_changed']

it.each([
  ['leaves', [], true],
  ['is still there at the end', [], false],
  ['shares the server', ['--shared'], false],
])(
  'what waits for an event stream that never comes is on the tape: its client %s',
  async (_, options, leaves) => {
    const { leave, end } = await listen(...options)
    if (leaves) await leave()
    const { lines, stderr } = await end()
    expect(methodsOf(lines)).toEqual(unasked)
    const [request] = lines.filter(({ dir }) => dir === 'in')
    const said = lines.filter(({ dir, raw }) => dir === 'out' && raw.method)
    for (const { conv } of said) expect(conv).toBe(request!['conv'])
    const undelivered = lines.filter(({ type }) => type === 'undelivered')
    expect(undelivered.map(({ id }) => id)).toEqual(said.map(({ id }) => id))
    expect(stderr.match(/no client was connected: it is on the tape/g)).toHaveLength(1)
  },
)

it('an answer whose client has left is on the tape, with its request', async () => {
  const { post, end } = await listen()
  const gone = new AbortController()
  const left = post({ id: 3, method: 'ping', params: { ms: 300 } }, gone.signal).catch(() => undefined)
  await until('the request is on the tape', () => linesOfTape(stage.tape()).some(({ raw }) => raw?.id === 3))
  gone.abort()
  await left
  await (await post({ id: 4, method: 'ping', params: { ms: 600 } })).text()
  const { lines } = await end()
  const [request, answer] = lines.filter(({ raw }) => raw?.id === 3)
  expect(answer).toMatchObject({ dir: 'out', corr: request!['id'], raw: { result: {} } })
  expect(lines.filter(({ type, id }) => type === 'undelivered' && id === answer!['id'])).toHaveLength(1)
})

it('a replay of such a recording finds the questions of the server where they were', async () => {
  const { leave, end } = await listen()
  await leave()
  await end()
  const replayed = await wiretape(['replay', stage.tape(), '--', ...server('unasked-mcp.mjs')])
  expect(replayed.stdout).not.toMatch(/new roots\/list/)
  expect(replayed.code).toBe(0)
})
