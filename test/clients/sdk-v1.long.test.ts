import { mkdirSync, rmSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { createStage, server } from '../behaviour/stage.js'
import {
  byText,
  everything,
  filesystem,
  memory,
  mini,
  packaged,
  talk,
  timeless,
  type Scenario,
} from './scenarios.js'
import { expectCorrelated, expectFaultless, messagesOf, overlappingIds } from './tape-of.js'

const stage = createStage()
afterAll(() => stage.close())

describe('the official client, version 1,', () => {
  it.each<[string, readonly string[], Scenario, boolean]>([
    ['server-everything', packaged('@modelcontextprotocol/server-everything', 'stdio'), everything, true],
    [
      'server-filesystem',
      packaged('@modelcontextprotocol/server-filesystem', stage.path('files')),
      filesystem,
      true,
    ],
    ['server-memory', packaged('@modelcontextprotocol/server-memory'), memory, false],
    ['a server with everything that is hard to record', server('mini-mcp.mjs'), mini, true],
  ])('sees the same with and without the recorder of %s', async (_, command, scenario, asks) => {
    const fresh = (): void => {
      rmSync(stage.path('memory.jsonl'), { force: true })
      rmSync(stage.path('files'), { recursive: true, force: true })
      rmSync(stage.out, { recursive: true, force: true })
      mkdirSync(stage.path('files'))
    }
    fresh()
    const direct = await talk(stage, command, scenario)
    fresh()
    const recorded = await talk(stage, stage.record(command), scenario)

    expect(timeless(recorded.outcomes)).toEqual(timeless(direct.outcomes))
    expect(byText(recorded.sent)).toEqual(byText(direct.sent))
    expect(byText(recorded.received)).toEqual(byText(direct.received))
    const { problems, closed, stderr } = direct
    expect({ problems: recorded.problems, closed: recorded.closed, stderr: recorded.stderr }).toEqual({
      problems,
      closed,
      stderr,
    })

    const messages = messagesOf(stage.tape())
    const passed = (dir: string) => messages.filter((message) => message.dir === dir)
    expect(passed('in').map(({ text }) => text)).toEqual(
      recorded.sent.map((message) => JSON.stringify(message)),
    )
    expect(passed('out').map(({ raw }) => raw)).toEqual(recorded.received)
    expectCorrelated(messages.filter(({ raw }) => !isCancelledRequest(raw, messages)))
    if (asks) expect(overlappingIds(messages)).not.toEqual([])
    await expectFaultless(stage.tape())
  })
})

function isCancelledRequest(raw: { id?: unknown }, messages: ReturnType<typeof messagesOf>): boolean {
  return (
    raw.id !== undefined &&
    messages.some(
      (other) => other.raw.method === 'notifications/cancelled' && other.raw.params?.requestId === raw.id,
    )
  )
}
