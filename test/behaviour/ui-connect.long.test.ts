import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { cli, createStage, kill, printed, server, until, type Stage } from './stage.js'
import { openUi, type UiPage } from './ui-page.js'

interface Listed {
  readonly id: string
  readonly label: string
  readonly state: string
  readonly path: string
  readonly why?: string
}

interface Session {
  readonly id: string
  readonly recording: string
  readonly ended?: string
}

describe('Connect in wiretape ui', () => {
  let play: Stage
  let ui: UiPage
  beforeEach(() => {
    play = createStage()
  })
  afterEach(async () => {
    await ui.close()
    await play.close()
  })

  /** A program that can be replaced or removed after it was recorded. */
  function program(text: string): string {
    const path = play.path('kettle')
    writeFileSync(path, `#!/bin/sh\n${text}\n`)
    chmodSync(path, 0o755)
    return path
  }

  /** Records a call, and opens the page on it. */
  async function recorded(...target: string[]): Promise<Listed> {
    const actor = play.start([process.execPath, cli, 'call', 'echo', '{"text":"hi"}', ...target])
    await actor.ended
    expect(actor.stdout().toString()).toContain('hi')
    ui = await openUi(play)
    const [only] = await list()
    return only!
  }

  const list = (): Promise<Listed[]> => ui.get<Listed[]>('/api/recordings')

  async function connect({ id }: Listed): Promise<{ status: number; text: string }> {
    const { code } = await ui.get<{ code: string }>(`/api/recordings/${id}/server`)
    return ui.ask('/api/sessions', { code })
  }

  /** The recording of a failed attempt. */
  async function failed(before: Listed): Promise<Listed> {
    const found = await until('the attempt has ended', async () =>
      (await list()).find(({ id, state }) => id !== before.id && state !== 'live'),
    )
    expect(await ui.get('/api/sessions')).toEqual([])
    expect(before.why).toBeUndefined()
    return found
  }

  it('reports a missing command, and lists the attempt with the reason', async () => {
    const path = program(`exec ${server('mini-mcp.mjs').join(' ')}`)
    const before = await recorded('--', path)
    rmSync(path)
    const { status, text } = await connect(before)
    expect(status).toBe(502)
    expect(text).toContain('no such program')
    expect(await failed(before)).toMatchObject({
      state: 'failed',
      why: 'the server did not start: no such program',
    })
  })

  it('reports a server that exits before initialize, and lists the attempt with the reason', async () => {
    const before = await recorded('--', program(`exec ${server('mini-mcp.mjs').join(' ')}`))
    program('read request; echo "no kettle here" >&2; exit 3')
    const { status, text } = await connect(before)
    expect(status).toBe(502)
    expect(text).toContain('no kettle here')
    const after = await failed(before)
    expect(after.why).toBe('the server exited with 3 before its first message')
    expect(readFileSync(after.path, 'utf8')).toContain('no kettle here')
  })

  it('reports a URL that refuses connections, and lists the attempt with the reason', async () => {
    const upstream = play.start(server('sdk-modern-http.mjs'))
    await printed(upstream, 'http')
    const url = /http:\S+/.exec(upstream.stdout().toString())![0]
    const before = await recorded('--url', url)
    upstream.child.kill('SIGKILL')
    await upstream.ended
    const { status, text } = await connect(before)
    expect(status).toBe(502)
    expect(text).toContain('the connection was refused')
    expect((await failed(before)).why).toBe('the server did not respond: the connection was refused')
  })

  it("says that a kept session's server has ended", async () => {
    const before = await recorded('--', ...server('mini-mcp.mjs'))
    const { text } = await connect(before)
    const { id, recording } = JSON.parse(text) as Session
    await ui.ask(`/api/sessions/${id}`, { type: 'keep', on: true })
    for (const pid of play.runningAs('mini-mcp.mjs')) kill(pid)
    const ended = await until('it ends', async () =>
      (await ui.get<Session[]>('/api/sessions')).find(({ ended: why }) => why !== undefined),
    )
    expect(ended).toMatchObject({ id, recording, isKept: true })
    expect(ended.ended).toMatch(/exited|SIGKILL/)
    const listed = (await list()).find((one) => one.id === recording)
    expect(listed).toMatchObject({ state: 'complete' })
    expect(listed!.why).toBeUndefined()
  })
})
