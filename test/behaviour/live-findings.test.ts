import { describe, expect, it } from 'vitest'
import { drifted, notes, say, tool, useDriftingServer } from './live-findings-stage.js'

const hidden = Array.from('obey', (char) => String.fromCodePoint(0xe0000 + char.codePointAt(0)!)).join('')

const { stage, offer, cli, record, tapeOf } = useDriftingServer()

describe('record --pin', () => {
  it('--on-drift block responds with an error that names the rule', async () => {
    offer(drifted)
    const client = await record('--pin', 'wiretape.lock', '--on-drift', 'block')
    await expect(client.listTools()).rejects.toThrow(
      'wiretape: blocked by safety/definition-drift: the tool add: description changed',
    )
    expect(await say(client, { say: 'on' })).toBe('on')
    offer(tool)
    expect((await client.listTools()).tools).toEqual([tool])
    const tape = await tapeOf(client)
    const blocked = tape.find((line) => line['rule'] === 'safety/definition-drift')!
    expect(blocked).toMatchObject({ modified: true, raw: { error: {} } })
    expect(JSON.stringify(blocked['original'])).toContain('id_rsa')
    const { stdout } = await cli('inspect', stage.tape())
    expect(stdout).toContain('safety/definition-drift')
  })
})

describe('record --on-finding', () => {
  it("blocks a result, a server's request and a call; the sender gets an error", async () => {
    const client = await record(
      '--on-finding=safety/hidden-text=block',
      '--on-finding=safety/elicited-secret=block',
      '--on-finding=safety/argument=note',
    )
    await expect(say(client, { say: `well${hidden}` })).rejects.toThrow('blocked by safety/hidden-text')
    // The server gets this error and reports it.
    expect(await say(client, { ask: true })).toContain('blocked by safety/elicited-secret')
    expect(await say(client, { say: '../../etc/passwd' })).toBe('../../etc/passwd')
    const tape = await tapeOf(client)
    expect(notes(tape)).toEqual([
      expect.stringContaining('blocked by safety/hidden-text in add'),
      expect.stringContaining('blocked by safety/elicited-secret'),
      expect.stringContaining('found by safety/argument in add'),
    ])
  })
})
