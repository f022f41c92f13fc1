import { writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { useExplained } from './explained.js'
import { call, ping } from './mini-talk.js'
import { wiretape } from './run-cli.js'
import { server } from './stage.js'

const { stage, explain, told, got, record } = useExplained()

const say = (message: object): string => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`

describe('wiretape explain of a server on stdio', () => {
  it('says that the request succeeded', async () => {
    const recorder = record(server('odd-mcp.mjs'))
    await recorder.send(ping(1) + ping(2))
    await got(recorder, 2)
    expect(await told(recorder)).toBe('No problems: all 2 requests were answered, and none was refused.\n')
    expect(await explain('0')).toMatch(/The server answered after \d.*\(#1\)|The server answered after \d/)
    expect(await explain('1')).toContain('At fault: nobody')
  })

  it('says that the server died, with its status and its stderr', async () => {
    writeFileSync(
      stage.path('dies.mjs'),
      `process.stdin.once('data', () => { console.error('no database'); process.exitCode = 3; process.stdin.destroy() })`,
    )
    const recorder = record([process.execPath, stage.path('dies.mjs')])
    await recorder.send(call(1, 'search'))
    await recorder.ended
    const one = await explain('0')
    expect(one).toMatch(/The server process exited with status 3 .* later/)
    expect(one).toContain('“no database”')
    expect(one).toContain('At fault: the server')
    expect(await explain()).toContain(
      'tools/call search: The server exited with status 3 before it answered.',
    )
  })

  it('says which rule dropped, answered or held a call', async () => {
    const recorder = record(
      server('mini-mcp.mjs'),
      `
      rules:
        - { name: gone, when: 'dir:in id:1', drop: true }
        - { name: later, when: 'dir:in id:2', delay: 100ms }
        - name: block
          when: 'dir:in id:3'
          respond: { error: { code: -1, message: 'blocked' } }`,
    )
    await recorder.send(ping(1) + ping(2) + ping(3))
    await got(recorder, 2)
    expect(await told(recorder, '0')).toContain(
      'At fault: one of your rules. The rule “gone” dropped the request',
    )
    expect(await explain('1')).toMatch(/wiretape held it for \d+ ms\. The rule “later” decided/)
    const blocked = await explain('2')
    expect(blocked).toMatch(/The rule “block” refused it.* with error -1: “blocked”/)
    expect(blocked).toContain('answered in place of the server, which never received the request')
  })

  it('takes the number of a response or a notification, and refuses other numbers in one line', async () => {
    const recorder = record(server('odd-mcp.mjs'))
    await recorder.send(ping(1))
    await got(recorder, 1)
    await recorder.send(say({ method: 'notifications/initialized' }))
    expect(await told(recorder, '#1')).toContain('#0 ping')
    for (const [args, line] of [
      [['99'], 'no message 99'],
      [['2'], 'message 2 is a notification without a request'],
      [['x'], 'Use the number that inspect shows'],
    ] as const) {
      const { code, stderr } = await wiretape(['explain', stage.tape(), ...args])
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(line) })
    }
  })
})
