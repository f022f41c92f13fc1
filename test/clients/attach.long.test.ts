import { existsSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from '@modelcontextprotocol/client'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { joinCommandLine } from '../../src/model/index.js'
import { leftOut } from '../behaviour/run-cli.js'
import {
  cli,
  createStage,
  isRunning,
  printed,
  server,
  until,
  type Actor,
  type Stage,
} from '../behaviour/stage.js'
import type { Line } from '../behaviour/tape-bytes.js'
import { everythingOnStdio as everything, startEverything } from './everything.js'
import { freePort } from './free-port.mjs'
import { noTerminal, openTerminal, type Terminal } from './terminal.js'

const isLeftOut = leftOut(noTerminal === undefined, `screens on a real terminal: ${noTerminal}`)

const closing: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

let stage: Stage
beforeAll(() => {
  stage = createStage()
})
afterAll(() => stage.close())

/** A client that uses server-everything through `record`. */
async function connect(
  options: readonly string[] = [],
): Promise<{ client: Client; transport: StdioClientTransport }> {
  const [command, ...args] = stage.record(everything, options)
  const transport = new StdioClientTransport({
    command: command!,
    args,
    env: stage.env as Record<string, string>,
    stderr: 'ignore',
  })
  const client = new Client({ name: 'test-client', version: '1.0.0' })
  const connecting = client.connect(transport)
  closing.push(() => client.close())
  if (!options.includes('--wait-for-attach')) await connecting
  else
    closing.push(() =>
      connecting.then(
        () => undefined,
        () => undefined,
      ),
    )
  return { client, transport }
}

/** Colour escapes as tmux prints them. */
const colour = /\u001b\[(?:\d+;)*3[1-6]m/
const inverse = /\u001b\[(?:\d+;)*7m/

function attach(): Terminal {
  const terminal = openTerminal(stage, [process.execPath, cli, 'attach'])
  closing.push(() => terminal.close())
  return terminal
}

const echo = async (client: Client, message: string): Promise<string> => {
  const { content } = await client.callTool({ name: 'echo', arguments: { message } })
  return (content as { text: string }[])[0]!.text
}

/** Sends an echo call, and replaces its message in the editor when it is held. */
async function rewrittenEcho(
  client: Client,
  terminal: Terminal,
  to: string,
): Promise<{ answer: ReturnType<typeof echo> }> {
  const answer = echo(client, 'original')
  await terminal.shows(/⏸ tools\/call echo/)
  terminal.press('m')
  await terminal.shows('Ctrl+S confirm')
  terminal.press('Down', 'Down', 'Down', 'Down', 'Down', 'End')
  terminal.press(...Array.from({ length: '"original"'.length }, () => 'BSpace'))
  terminal.type(`"${to}"`)
  return { answer }
}

describe.skipIf(isLeftOut)('a screen', () => {
  it('holds, edits and forwards a call; client, tape and session file have the result', async () => {
    const { client } = await connect()
    const terminal = attach()
    await terminal.shows('● live')
    await terminal.shows('notifications/initialized')
    terminal.press('i')
    await terminal.shows('[INTERCEPT]')
    const { answer } = await rewrittenEcho(client, terminal, 'changed')
    await terminal.shows('"message": "changed"')
    terminal.press('C-s')
    // Responses are messages too.
    await terminal.shows(/⏸ result of tools\/call echo/)
    terminal.press('f')
    expect(await answer).toBe('Echo: changed')
    await terminal.shows(/✎ tools\/call echo/)
    terminal.press('s', 'Enter')
    await terminal.shows('saved ')
    const lines = readFileSync(newest('.jsonl'), 'utf8').split('\n')
    const [modified] = lines.filter((line) => line.includes('"modified":true'))
    expect(modified).toMatch(/"raw":\{.*"changed".*"original":\{.*"original"/)
    const session = readFileSync(newest('.session.json'), 'utf8')
    expect(session).toMatch(/"original_payload": .*original/s)
    terminal.press('i')
    await terminal.shows('[PASSTHROUGH]')
    terminal.press('q')
    await terminal.ended()
    expect(await echo(client, 'after')).toBe('Echo: after')
  })

  it('drops a call and responds to another one itself', async () => {
    const { client } = await connect()
    const terminal = attach()
    await terminal.shows('● live')
    terminal.press('i')
    await terminal.shows('[INTERCEPT]')
    const dropped = echo(client, 'dropped').catch((error: unknown) => error)
    await terminal.shows(/⏸ tools\/call echo/)
    terminal.press('d')
    await terminal.shows(/✕ tools\/call echo/)
    const answered = echo(client, 'answered')
    await terminal.shows(/⏸ tools\/call echo/)
    terminal.press('a')
    await terminal.shows('answer the request')
    // Deletes the initial text.
    terminal.press(...Array<string>(400).fill('DC'))
    terminal.type('{"result":{"content":[{"type":"text","text":"from a person"}]}}')
    terminal.press('C-s')
    expect(await answered).toBe('from a person')
    void dropped
  })

  it('sends a request again and shows the changes in its response', async () => {
    const { client } = await connect()
    await echo(client, 'same')
    const terminal = attach()
    await terminal.shows('result of tools/call echo')
    // A filter, so that other messages of the server do not become the selected row.
    terminal.press('/')
    terminal.type('tool:echo')
    terminal.press('Enter', 'G', 'r')
    await terminal.shows('same response as before')
  })

  it('that detaches or dies forwards its held messages', async () => {
    const { client } = await connect()
    for (const leave of ['q', 'kill']) {
      const terminal = attach()
      await terminal.shows('● live')
      terminal.press('i')
      await terminal.shows('[INTERCEPT]')
      const answer = echo(client, leave)
      await terminal.shows(/⏸ tools\/call echo/)
      if (leave === 'kill') process.kill(terminal.pid(), 'SIGKILL')
      else {
        terminal.press('q')
        await terminal.shows('press q again')
        terminal.press('q')
      }
      expect(await answer).toBe(`Echo: ${leave}`)
      terminal.close()
    }
  })

  it('shares a capture with another one, and can outlive it', async () => {
    const { client, transport } = await connect()
    const [one, two] = [attach(), attach()]
    await Promise.all([one.shows('● live'), two.shows('● live')])
    one.press('i')
    await two.shows('[INTERCEPT]')
    const answer = echo(client, 'shared')
    await one.shows(/⏸ tools\/call echo/)
    await two.shows(/⏸ tools\/call echo/)
    two.press('A')
    await one.shows(/⏸ result of tools\/call echo/)
    one.press('A')
    expect(await answer).toBe('Echo: shared')
    process.kill(transport.pid!, 'SIGKILL')
    await one.shows('the connection to the capture is lost')
    await two.shows('connection lost')
    one.press('q')
    // A line of two rows scrolls out by one when the pane dies.
    await one.ended()
    expect(one.history()).toContain('ended unexpectedly')
  })

  it('fits into 80 by 24 cells, into less, without colours and without UTF-8', async () => {
    const { client } = await connect()
    await echo(client, 'x'.repeat(500))
    const env = { NO_COLOR: '1', LANG: 'C', LC_ALL: 'C' }
    const terminal = openTerminal(stage, [process.execPath, cli, 'attach'], { columns: 80, rows: 24, env })
    closing.push(() => terminal.close())
    const screen = await terminal.shows('result of tools/call echo')
    expect(screen).toContain('* live')
    expect(screen).not.toMatch(/[▶◀●]/)
    expect(terminal.painted()).not.toMatch(colour)
    terminal.resize(40, 12)
    await terminal.shows(/PASSTHROUGH[^]*q quit/)
    terminal.resize(120, 40)
    await terminal.shows('r again')
  })

  it.each([
    ['', {}],
    [' without colours', { NO_COLOR: '1' }],
    [' where CI is set', { CI: 'true' }],
  ])('marks the selected row%s', async (_, env: NodeJS.ProcessEnv) => {
    const { client } = await connect()
    await echo(client, 'painted')
    const terminal = openTerminal(stage, [process.execPath, cli, 'attach'], { columns: 80, rows: 24, env })
    closing.push(() => terminal.close())
    await terminal.shows('result of tools/call echo')
    expect(terminal.painted()).toMatch(inverse)
    expect(colour.test(terminal.painted())).toBe(env['NO_COLOR'] === undefined)
  })
})

/** A server that echoes, of one era, and the official client of that era. */
const eras: [
  era: string,
  upstream: (own: Stage) => Promise<string>,
  client: (url: URL) => Promise<EraClient>,
][] = [
  [
    '2026-07-28',
    async (own) => {
      const upstream = own.start(server('sdk-modern-http.mjs'))
      await printed(upstream, '\n')
      return upstream.stdout().toString().split('\n')[0]!
    },
    async (url) => {
      const client = new ModernClient(
        { name: 'c', version: '1' },
        { capabilities: {}, versionNegotiation: { mode: { pin: '2026-07-28' } } },
      )
      await client.connect(new ModernTransport(url))
      await client.listTools()
      return {
        call: (text) => client.callTool({ name: 'echo', arguments: { text } }),
        close: () => client.close(),
      }
    },
  ],
  [
    '2025-11-25',
    () => startEverything('streamableHttp'),
    async (url) => {
      const client = new Client({ name: 'c', version: '1' })
      await client.connect(new StreamableHTTPClientTransport(url))
      return {
        call: (message) => client.callTool({ name: 'echo', arguments: { message } }),
        close: () => client.close(),
      }
    },
  ],
]

interface EraClient {
  readonly call: (text: string) => Promise<unknown>
  readonly close: () => Promise<void>
}

describe.skipIf(isLeftOut).each(eras)('a screen on an HTTP server of %s', (era, startServer, connectTo) => {
  it('edits a call in $EDITOR, drops one, responds to one, adds one; the client gets the results', async () => {
    const own = createStage()
    closing.push(() => own.close())
    const to = await startServer(own)
    const argv = [process.execPath, cli, 'record', '--url', to, '--out', own.out]
    const recorder = own.start(argv, { detached: true })
    await printed(recorder, '\n')
    const client = await connectTo(new URL(recorder.stdout().toString().trim()))
    closing.push(() => client.close())
    const call = (text: string): Promise<unknown> => client.call(text).catch((error: unknown) => error)
    const env = { EDITOR: 'sed -i s/original/changed/', VISUAL: '' }
    const terminal = openTerminal(own, [process.execPath, cli, 'attach'], { env })
    closing.push(() => terminal.close())
    await terminal.shows('● live')
    terminal.press('b')
    await terminal.shows('break on:')
    terminal.press('C-u')
    terminal.type('method:tools/call dir:in')
    terminal.press('Enter')
    await terminal.shows('[INTERCEPT]')
    const held = (id: number): Promise<string> => terminal.shows(new RegExp(`⏸ tools/call echo .* ${id} `))
    const edited = call('original')
    await held(1)
    terminal.press('F6')
    await terminal.shows('Ctrl+S confirm')
    terminal.press('Escape')
    // The message stays held.
    await held(1)
    terminal.press('m')
    await terminal.shows('Ctrl+S confirm')
    terminal.press('C-o')
    await terminal.shows('"changed"')
    terminal.press('C-s')
    expect(JSON.stringify(await edited)).toContain('changed')
    terminal.press('s', 'Enter')
    await terminal.shows('saved ')
    const dropped = call('dropped')
    await held(2)
    terminal.press('F8')
    expect(String(await dropped)).toContain('wiretape: dropped')
    const answered = call('answered')
    await held(3)
    terminal.press('a')
    await terminal.shows('answer the request')
    terminal.press(...Array<string>(400).fill('DC'))
    const kind = era > '2026' ? '"resultType":"complete",' : ''
    terminal.type(`{"result":{${kind}"content":[{"type":"text","text":"from a person"}]}}`)
    terminal.press('C-s')
    expect(JSON.stringify(await answered)).toContain('from a person')
    const passed = call('passed on')
    await held(4)
    terminal.press('F5')
    expect(JSON.stringify(await passed)).toContain('passed on')
    terminal.press('c')
    await terminal.shows('your own message to the server')
    terminal.press('C-s')
    // The response to the selected message, sent again under a new id.
    await terminal.shows(/result of tools\/call echo .* "wire/)
    const left = call('left behind')
    await held(5)
    process.kill(terminal.pid(), 'SIGKILL')
    expect(JSON.stringify(await left)).toContain('left behind')
    recorder.child.kill('SIGTERM')
    await recorder.ended
    const saved = (extension: string): string =>
      readFileSync(
        own.tapes().find((path) => path.endsWith(extension))!,
        'utf8',
      )
    const lines = saved('.jsonl').split('\n')
    const [modified] = lines.filter((line) => line.includes('"modified":true'))
    expect(modified).toMatch(/"raw":\{.*"changed".*"original":\{.*"original"/)
    const session = JSON.parse(saved('.session.json')) as Line
    expect(session['messages']).toContainEqual(
      expect.objectContaining({
        modified: true,
        payload: expect.objectContaining({ method: 'tools/call' }),
        original_payload: expect.objectContaining({ method: 'tools/call' }),
      }),
    )
    expect(lines.filter((line) => line.includes('"type":"dropped"'))).toHaveLength(2)
    expect(lines.some((line) => line.includes('"injected":true') && line.includes('"tools/call"'))).toBe(true)
  })
})

function newest(extension: string): string {
  return stage.tapes().findLast((path) => path.endsWith(extension))!
}

const targets: [name: string, options: () => Promise<string[]> | string[]][] = [
  [
    'an HTTP server',
    async () => ['--transport', 'streamable-http', '--target-url', await startEverything('streamableHttp')],
  ],
  ['a stdio server', () => ['--target-command', joinCommandLine(everything)]],
]

interface OwnScreen {
  readonly terminal: Terminal
  readonly sessionFile: string
  readonly out: string
  readonly url: string
  readonly client: Client
}

/** `proxy start` in a terminal of its own, and a client of the server that it shows. */
async function startOwnScreen(options: readonly string[], env: NodeJS.ProcessEnv = {}): Promise<OwnScreen> {
  const out = mkdtempSync(stage.path('own-'))
  const sessionFile = join(out, 'own.session.json')
  const saving = ['--session-file', sessionFile, '--out', out]
  const argv = [process.execPath, cli, 'proxy', 'start', ...options, ...saving]
  const terminal = openTerminal(stage, argv, { columns: 140, env })
  closing.push(() => terminal.close())
  const [url] = /http:\/\/127\.0\.0\.1:\d+\/mcp/.exec(await terminal.shows('● live'))!
  const client = new Client({ name: 'test-client', version: '1.0.0' })
  closing.push(() => client.close())
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  await terminal.shows('result of initialize')
  return { terminal, sessionFile, out, url, client }
}

describe.skipIf(isLeftOut)('a list of captures', () => {
  it('says that a capture has ended while the user selects, and lets them select again', async () => {
    const own = createStage()
    closing.push(() => own.close())
    const live = join(own.env['XDG_DATA_HOME']!, 'wiretape', 'live')
    const start = async (label: string, count: number): Promise<Actor> => {
      const recorder = own.start(own.record(server('mini-mcp.mjs'), ['--label', label]))
      const entries = (): string[] => (existsSync(live) ? readdirSync(live) : [])
      await until(
        'it is registered',
        () => entries().filter((name) => name.endsWith('.json')).length === count,
      )
      return recorder
    }
    await start('stays', 1)
    const goes = await start('goes', 2)
    const terminal = openTerminal(own, [process.execPath, cli, 'attach'])
    closing.push(() => terminal.close())
    const [, number] = /(\d) +goes/.exec(await terminal.shows(/2 captures are live/))!
    goes.stdin.end()
    await goes.ended
    terminal.press(number!)
    terminal.press('Enter')
    await terminal.shows(/goes has ended; 1 capture is live\n +1 +stays/)
    terminal.press('Enter')
    await terminal.shows(/stays .*● live/)
  })
})

describe.skipIf(isLeftOut)('proxy start on a terminal', () => {
  it.each(targets)('that is closed ends the capture of %s, which saves', async (_, target) => {
    const { terminal, sessionFile, out, client } = await startOwnScreen(await target())
    const pid = terminal.pid()
    // The client closes first: an error of its stream about the closed server would be unhandled.
    await client.close()
    terminal.close()
    await until('the capture is over', () => !isRunning(pid))
    expect(JSON.parse(readFileSync(sessionFile, 'utf8')).messages.length).toBeGreaterThan(1)
    const [tape] = readdirSync(out).filter((name) => name.endsWith('.jsonl'))
    expect(readFileSync(join(out, tape!), 'utf8').trimEnd().split('\n').at(-1)).toContain('"type":"end"')
  })

  it.each(targets)(
    'shows the capture of %s at once, holds its messages, saves and ends with q',
    async (_, target) => {
      const { terminal, sessionFile, client } = await startOwnScreen(await target())
      terminal.press('i')
      await terminal.shows('[INTERCEPT]')
      const { answer } = await rewrittenEcho(client, terminal, 'changed over HTTP')
      terminal.press('C-s')
      await terminal.shows(/⏸ result of tools\/call echo/)
      terminal.press('i')
      expect(await answer).toBe('Echo: changed over HTTP')
      await client.close()
      terminal.press('q')
      await terminal.ended()
      expect(terminal.history()).toMatch(/recorded \d+ messages/)
      expect(JSON.parse(readFileSync(sessionFile, 'utf8')).messages).toContainEqual(
        expect.objectContaining({ modified: true, method: 'tools/call' }),
      )
    },
  )

  it('listens at the given address, and survives an editor that leaves an empty text', async () => {
    const port = await freePort()
    const { terminal, sessionFile, url, client } = await startOwnScreen(
      ['--target-command', joinCommandLine(everything), '--listen', `127.0.0.1:${port}`],
      { EDITOR: 'rm -f' },
    )
    expect(new URL(url).port).toBe(String(port))
    // Some rows have no text; the first row is a message.
    terminal.press('g')
    await terminal.shows(/#0 initialize/)
    terminal.press('e')
    await terminal.shows(/the editor failed: ENOENT/)
    expect(await echo(client, 'still there')).toBe('Echo: still there')
    await client.close()
    terminal.press('q')
    await terminal.ended()
    expect(JSON.parse(readFileSync(sessionFile, 'utf8')).messages.length).toBeGreaterThan(3)
  })
})
