import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { leftOut, runOnTerminal, unstyled, wiretapeIn } from './run-cli.js'
import { cli, printed, server, useStage } from './stage.js'
import { spawnSync } from 'node:child_process'

const hasScript = spawnSync('script', ['--version']).status === 0

const stage = useStage()

const here = wiretapeIn(stage)
const varying = server('varying-mcp.mjs')

describe('wiretape call', () => {
  it("calls an HTTP server, and a client's server by its name", async () => {
    const http = stage.start([
      process.execPath,
      cli,
      'record',
      '--quiet',
      '--out',
      stage.out,
      '--listen',
      '127.0.0.1:0',
      '--',
      ...varying,
    ])
    await printed(http, '\n')
    const url = http.stdout().toString().split('\n')[0]!
    expect(await here('call', 'price', '--url', url)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('4.5'),
    })
    const config = join(stage.folder, '.cursor/mcp.json')
    mkdirSync(dirname(config))
    const [command, ...args] = varying
    writeFileSync(config, JSON.stringify({ mcpServers: { shop: { command, args } } }))
    expect(await here('call', '--server', 'shop', 'price')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('4.5'),
    })
    expect(await here('call', '--server', 'shops', 'price')).toMatchObject({
      code: 2,
      stderr: 'wiretape: no client has the server "shops" (known servers: shop)\n',
    })
  })

  describe('--from', () => {
    const number = async (what: string): Promise<string> => {
      const { stdout } = await here('inspect', 'latest')
      return new RegExp(String.raw`^ *(\d+) .*${what}`, 'm').exec(stdout)![1]!
    }
    beforeEach(async () => {
      await here('call', 'add_note', '{"text":"milk"}', '--', ...varying)
    })

    it('sends a recorded request again with another value, to the recorded server or a named one', async () => {
      const request = await number('→ tools/call add_note')
      const args = ['call', '--from', 'latest', request, '--set', '$.params.arguments.text="tea"']
      expect(await here(...args, '--', ...varying)).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^Added note/),
      })
      expect((await here('inspect', 'latest', '-v')).stdout).toContain('"tea"')
      expect(
        await here('call', '--from', 'latest', await number('← result of .* add_note'), '--yes'),
      ).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(/^Added note/),
      })
    })

    it('does not start the recorded server without confirmation', async () => {
      const { code, stdout, stderr } = await here('call', '--from', 'latest', '3')
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
      expect(stderr).toContain(`the recorded server is ${varying.join(' ')} (add --yes`)
    })

    it.skipIf(leftOut(hasScript, 'the question of call --from: there is no script'))(
      'asks for confirmation on a terminal',
      async () => {
        const argv = [process.execPath, cli, 'call', '--from', 'latest', '3']
        const options = { cwd: stage.folder, env: stage.env }
        const no = await runOnTerminal(argv, 100, { ...options, input: 'n\n' })
        expect(unstyled(no.stdout)).toContain('Call it? [y/N]')
        expect(no.stdout).not.toContain('Added note')
        const yes = await runOnTerminal(argv, 100, { ...options, input: 'y\n' })
        expect(yes.stdout).toContain('Added note')
      },
    )

    it.each([
      [['99', '--yes'], 'has no message 99 (wiretape inspect prints the numbers)'],
      [['2', '--yes'], 'is not a request of the client'],
      [['add_note'], '--from needs a message number'],
      [['3', '--yes', '--set', '$.params.arguments.q=1'], 'the request has no value at this path'],
    ])('refuses %j', async (words, why) => {
      expect(await here('call', '--from', 'latest', ...words)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining(why),
      })
    })
  })

  it.each([
    [['price'], 'a server is needed'],
    [['--', 'node'], 'a tool is needed'],
    [['price', '[1]', '--', 'node'], 'the arguments of a tool must be one JSON object'],
    [['price', '{', '--', 'node'], 'the arguments of a tool must be one JSON object'],
    [['price', '--url', 'http://127.0.0.1:1/', '--', 'node'], 'cannot be combined (name one)'],
    [['price', '--set', 'a=1', '--', 'node'], '--set needs a recorded request'],
    [['price', '--', '/nonexistent'], 'no such program'],
  ])('refuses %j', async (words, why) => {
    expect(await here('call', ...words)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining(why),
    })
  })
})
