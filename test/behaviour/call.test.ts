import { describe, expect, it } from 'vitest'
import { expectSchema } from './data-folder.js'
import { wiretapeIn } from './run-cli.js'
import { server, useStage } from './stage.js'

const stage = useStage()

const here = wiretapeIn(stage)
const varying = server('varying-mcp.mjs')

describe('wiretape call', () => {
  it('prints the text of a result, and records the call', async () => {
    const { code, stdout } = await here('call', 'price', '--', ...varying)
    expect({ code, stdout }).toEqual({ code: 0, stdout: '{"item":"tea","price":4.5,"currency":"EUR"}\n' })
    const shown = await here('inspect', 'latest')
    expect(shown.stdout).toContain('tools/call price')
    expect(shown.stdout).toContain('no faults')
  })

  it('sends the arguments as they were written', async () => {
    const { code } = await here('call', 'add_note', '{ "text":"a",  "n":1.50 }', '--', ...varying)
    expect(code).toBe(0)
    expect((await here('inspect', 'latest', '-v')).stdout).toContain('"n": 1.50')
    expect((await here('convert', 'latest', '-', '--to', 'jsonrpc')).stdout).toContain(
      '"arguments":{ "text":"a",  "n":1.50 }',
    )
  })

  it('exits with 1 when the tool failed, and when the server answers with an error', async () => {
    expect(await here('call', 'fail', '--', ...varying)).toMatchObject({
      code: 1,
      stdout: 'It failed: disk is full\n',
    })
    const unknown = await here('call', 'nosuch', '--', ...varying)
    expect(unknown).toMatchObject({ code: 1, stdout: expect.stringContaining('Unknown tool: nosuch') })
  })

  it('prints the whole response with --json', async () => {
    const { stdout } = await here('call', 'price', '--json', '--', ...varying)
    expect(JSON.parse(stdout)).toMatchObject({ jsonrpc: '2.0', result: { content: [{ type: 'text' }] } })
    expectSchema('call', JSON.parse(stdout))
    const failed = await here('call', 'nosuch', '--json', '--', ...varying)
    expect(JSON.parse(failed.stdout)).toHaveProperty('error.code', -32602)
    expectSchema('call', JSON.parse(failed.stdout))
  })

  it('speaks 2026-07-28 to a server that refuses initialize', async () => {
    const { code, stdout } = await here(
      'call',
      'book',
      '{"what":"a table"}',
      '--',
      ...server('modern-mcp.mjs'),
    )
    expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('Book a table?') })
    expect((await here('inspect', 'latest', '-v')).stdout).toContain('2026-07-28')
  })
})
