import { mkdirSync, rmSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { cli, createStage, server } from '../behaviour/stage.js'
import { byText, everything, filesystem, memory, mini, packaged, talk, type Scenario } from './scenarios.js'

const stage = createStage()
afterAll(() => stage.close())

function mock(...args: string[]): string[] {
  return [process.execPath, cli, 'mock', ...args]
}

describe('the official client, version 1, on stdio', () => {
  it.each<[string, readonly string[], Scenario]>([
    ['server-everything', packaged('@modelcontextprotocol/server-everything', 'stdio'), everything],
    [
      'server-filesystem',
      packaged('@modelcontextprotocol/server-filesystem', stage.path('files')),
      filesystem,
    ],
    ['server-memory', packaged('@modelcontextprotocol/server-memory'), memory],
    ['a server with everything that is hard to play', server('mini-mcp.mjs'), mini],
  ])('cannot tell the mock from %s', async (_, command, scenario) => {
    rmSync(stage.path('memory.jsonl'), { force: true })
    rmSync(stage.path('files'), { recursive: true, force: true })
    rmSync(stage.out, { recursive: true, force: true })
    mkdirSync(stage.path('files'))
    const real = await talk(stage, stage.record(command), scenario)
    // The server and its files are gone.
    rmSync(stage.path('files'), { recursive: true, force: true })
    mkdirSync(stage.path('files'))

    const mocked = await talk(stage, mock(stage.tape()), scenario)

    expect(mocked.outcomes).toEqual(real.outcomes)
    expect(byText(mocked.sent)).toEqual(byText(real.sent))
    expect(byText(mocked.received)).toEqual(byText(real.received))
    expect({ problems: mocked.problems, closed: mocked.closed, stderr: mocked.stderr }).toEqual({
      problems: real.problems,
      closed: real.closed,
      stderr: '',
    })
  })
})
