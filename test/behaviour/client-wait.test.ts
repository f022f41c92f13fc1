/**
 * A tool requests input from its client while it runs. The time until the client responds is not the server's, in every
 * output of latencies.
 */
import { setTimeout } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { expectSchema } from './data-folder.js'
import { answerTo, call, endOf } from './mini-talk.js'
import { server, useStage } from './stage.js'
import { plainEnv, wiretape } from './run-cli.js'

const stage = useStage()

interface Row {
  readonly kind: string
  readonly us: number
  readonly latencyUs: number | null
  readonly waitedUs: number | null
}

const personMs = 300

describe('a call of a tool that asks a person', () => {
  it("has the server's latency; the rest is shown as waiting for the client", async () => {
    const recorder = stage.start(stage.record(server('asking-mcp.mjs')))
    await recorder.send(call(7, 'pay'))
    await answerTo(recorder, 'ask-7')
    await setTimeout(personMs + 1)
    await recorder.send(
      `${JSON.stringify({ jsonrpc: '2.0', id: 'ask-7', result: { action: 'accept', content: {} } })}\n`,
    )
    await answerTo(recorder, 7)
    await endOf(stage, recorder)
    const tape = stage.tape()
    const run = async (...args: string[]): Promise<string> =>
      (await wiretape(args, { env: plainEnv() })).stdout

    const json = JSON.parse(await run('inspect', '--json', tape)) as { messages: Row[] }
    expectSchema('inspect', json)
    const [asks, question, reply, answer] = json.messages
    expect(answer).toMatchObject({ kind: 'result', waitedUs: reply!.us - question!.us })
    expect(answer!.waitedUs).toBeGreaterThanOrEqual(personMs * 1000)
    expect(answer!.latencyUs).toBe(answer!.us - asks!.us - answer!.waitedUs!)
    // The client's own latency is its whole response time.
    expect(reply).toMatchObject({ latencyUs: reply!.us - question!.us, waitedUs: null })

    const list = await run('inspect', tape)
    expect(list).toMatch(/^ +3 .* plus \d+ ms waiting for the client$/m)
    expect(list).toMatch(/^server answered in .+, plus \d+ ms waiting for the client$/m)
    const [, , , cells] = (await run('inspect', '--fields', 'latency,waited', '--format', 'tsv', tape))
      .split('\n')
      .slice(1)
    expect(cells!.split('\t').map(Number)).toEqual([answer!.latencyUs! / 1000, answer!.waitedUs! / 1000])

    const stats = JSON.parse(await run('stats', '--json', tape)) as { groups: object[] }
    expectSchema('stats', stats)
    expect(stats.groups).toMatchObject([
      { name: 'pay', p50Us: answer!.latencyUs, waitedUs: answer!.waitedUs },
    ])
    expect(await run('stats', tape)).toMatch(/client wait[^]*\npay .* \d+ ms /)
    const csv = await run('convert', '--to', 'csv', tape, '-')
    expect(csv).toContain(`,${answer!.latencyUs! / 1000},`)
  })
})
