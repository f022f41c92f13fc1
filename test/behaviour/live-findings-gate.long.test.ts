import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { attach } from './attach.js'
import { printed } from './stage.js'
import { drifted, notes, say, useDriftingServer } from './live-findings-stage.js'

const { stage, offer, drifting, cli, connect, record, tapeOf } = useDriftingServer()

const drift = 'safety/definition-drift in add: the tool add: description changed'

describe('record --pin', () => {
  it('notes a definition that differs, and passes every byte on', async () => {
    const client = await record('--pin', 'wiretape.lock')
    await client.listTools()
    offer(drifted)
    expect((await client.listTools()).tools).toEqual([drifted])
    const tape = await tapeOf(client)
    expect(notes(tape)).toEqual([`found by ${drift}`])
    expect(tape.filter((line) => line['rule'] !== undefined)).toHaveLength(1)
    expect(tape.some((line) => line['modified'] === true)).toBe(false)
  })

  it('--on-drift hold waits for a screen, which forwards it', async () => {
    offer(drifted)
    const client = await record('--pin', 'wiretape.lock', '--on-drift', 'hold')
    const screen = await attach(stage, { role: 'screen' })
    const listing = client.listTools()
    const { message, by } = await screen.event('it is held', ({ type }) => type === 'held')
    expect(by).toBe('safety/definition-drift')
    expect(await Promise.race([listing.then(() => 'came'), say(client, { say: 'meanwhile' })])).toBe(
      'meanwhile',
    )
    await screen.ask({ type: 'forward', message })
    expect((await listing).tools).toEqual([drifted])
    expect(notes(await tapeOf(client))).toEqual([`held by ${drift}`])
  })

  it('without a screen, forwards a held message with a note, or blocks it with --on-unattended block', async () => {
    offer(drifted)
    const trusting = await record('--pin', 'wiretape.lock', '--on-drift', 'hold')
    expect((await trusting.listTools()).tools).toEqual([drifted])
    expect(notes(await tapeOf(trusting))).toEqual([`found by ${drift}, because no screen is attached`])
    const careful = await record('--pin=wiretape.lock', '--on-drift=hold', '--on-unattended=block')
    await expect(careful.listTools()).rejects.toThrow('blocked by safety/definition-drift')
  })

  it('holds over HTTP too', async () => {
    offer(drifted)
    const recorder = stage.start(
      stage.record(drifting(), ['--listen', '127.0.0.1:0', '--pin', 'wiretape.lock', '--on-drift', 'block']),
    )
    await printed(recorder, '\n')
    const [url = ''] = recorder.stdout().toString().split('\n')
    const client = await connect(new StreamableHTTPClientTransport(new URL(url)))
    await expect(client.listTools()).rejects.toThrow('blocked by safety/definition-drift')
  })
})

describe('record --on-finding', () => {
  it.each([
    [['--on-finding', 'safety/argument=block'], 'safety/argument is a pattern: it can only note, not block'],
    [['--on-finding', 'protocol/unanswered=note'], 'protocol/unanswered needs the whole recording'],
    [['--on-finding', 'x/y=note'], 'unknown rule "x/y"'],
    [['--on-finding', 'safety/argument=drop'], 'Use note or hold or block'],
    [['--on-drift', 'block'], '--on-drift needs a lock file'],
    [['--pin', 'none.lock'], 'there is no none.lock'],
  ])('refuses %s before anything starts', async (options, why) => {
    const { code, stderr } = await cli('record', ...options, '--', ...drifting())
    expect(code).toBe(2)
    expect(stderr).toContain(why)
  })
})

describe('record --tag-key', () => {
  it('tags equal secrets alike, so that check finds one that went from server to server', async () => {
    const secret = `ghp_${'a1B2c3D4e5F6g7H8i9'.repeat(2)}`
    const env = { ...(stage.env as Record<string, string>), GIVE: secret }
    const talk = async (label: string, args: Record<string, unknown>, ...more: string[]): Promise<void> => {
      const [command, ...rest] = stage.record(drifting(), [...more, '--out', 'two', '--label', label])
      const client = await connect(
        new StdioClientTransport({ command: command!, args: rest, env, cwd: stage.folder, stderr: 'ignore' }),
      )
      await say(client, args)
      await client.close()
    }
    const check = async (): Promise<string> => {
      const tapes = readdirSync(stage.path('two')).map((name) => join('two', name))
      // One program records both; the tapes are told apart by the names of the servers.
      for (const tape of tapes.filter((name) => name.includes('mail')))
        writeFileSync(
          stage.path(tape),
          readFileSync(stage.path(tape), 'utf8').replaceAll('"drifting"', '"mail"'),
        )
      return (await cli('check', ...tapes, '--rules', 'safety/secret-flow')).stdout
    }
    await talk('vault', { give: true })
    await talk('mail', { say: secret })
    expect(await check()).toContain('no findings: 1 rule, 2 recordings')
    rmSync(stage.path('two'), { recursive: true })
    await talk('vault', { give: true }, '--tag-key', 'tags.key')
    await talk('mail', { say: secret }, '--tag-key', 'tags.key')
    expect(statSync(stage.path('tags.key'))).toMatchObject({ size: 32, mode: 0o100600 })
    expect(await check()).toContain('a secret from add of drifting was sent to add of mail')
  })

  it('refuses a key file that others can read, and an invalid key', async () => {
    writeFileSync(stage.path('open.key'), Buffer.alloc(32), { mode: 0o644 })
    writeFileSync(stage.path('short.key'), 'x', { mode: 0o600 })
    for (const [name, why] of [
      ['open.key', 'other users can read it'],
      ['short.key', 'it does not have 32 bytes'],
      ['missing/tags.key', 'no such folder (create the folder first)'],
    ] as const) {
      const { code, stderr } = await cli('record', '--tag-key', name, '--', ...drifting())
      expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining(why) })
    }
  })
})
