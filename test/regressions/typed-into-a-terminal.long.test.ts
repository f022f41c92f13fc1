import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { leftOut, plainEnv, run } from '../behaviour/run-cli.js'
import { cli, server, useStage } from '../behaviour/stage.js'

const stage = useStage()

/** On a terminal whose user presses Ctrl-D at once. */
async function typed(words: readonly string[]): Promise<string> {
  const command = words.map((word) => `'${word}'`).join(' ')
  const { stdout } = await run(['script', '-qec', command, '/dev/null'], {
    cwd: stage.folder,
    env: plainEnv(stage.env),
    input: '\u0004',
  })
  return stdout
}

describe.skipIf(leftOut(existsSync('/usr/bin/script'), 'script (util-linux) is not installed'))(
  'a command that is typed into a terminal',
  () => {
    it('record prints what it waits for, and how to end it', async () => {
      const said = await typed(stage.record(server('mini-mcp.mjs')))
      expect(said).toContain(
        'wiretape: waiting for an MCP client on stdin; clients start this command from their configuration; press Ctrl+D to stop',
      )
    })

    it('record --quiet prints nothing', async () => {
      expect(await typed(stage.record(server('mini-mcp.mjs'), ['--quiet']))).not.toContain('wiretape:')
    })

    it('record does not print it to a client', async () => {
      const argv = stage.record(server('mini-mcp.mjs'))
      const { stderr } = await run(argv, { cwd: stage.folder, env: plainEnv(stage.env) })
      expect(stderr).not.toContain('waiting')
    })

    it('mock prints the same', async () => {
      await typed(stage.record(server('mini-mcp.mjs')))
      const said = await typed([process.execPath, cli, 'mock', stage.tape()])
      expect(said).toContain(
        'waiting for an MCP client on stdin; serve over HTTP with --listen 127.0.0.1:8080',
      )
    })
  },
)
