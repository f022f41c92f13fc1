/** Warnings of Node about variables that wiretape sets reach neither a client's stderr nor a screen. */
import { mkdirSync } from 'node:fs'
import { expect, it } from 'vitest'
import { plainEnv, wiretape } from '../behaviour/run-cli.js'
import { useStage } from '../behaviour/stage.js'

const stage = useStage()

const client = `
process.emitWarning('about the proxy', { code: 'UNDICI-EHPA' })
process.emitWarning('of the client')
setImmediate(() => setImmediate(() => {
  process.emitWarning('later', { code: 'UNDICI-EHPA' })
  console.log(process.env.NODE_OPTIONS)
}))
`

it('a client of record --forward does not warn about the proxy, but of everything else', async () => {
  const data = stage.path('data "of" mine')
  mkdirSync(data)
  const env = plainEnv({ ...stage.env, XDG_DATA_HOME: data, NODE_OPTIONS: '--max-http-header-size=9000' })
  const argv = ['record', '--forward', '--out', stage.out, '--', process.execPath, '-e', client]
  const { stdout, stderr } = await wiretape(argv, { env })
  expect(stderr).not.toContain('about the proxy')
  expect(stderr).toContain('Warning: of the client')
  expect(stderr).toContain('Warning: later')
  expect(stdout).toMatch(/^--max-http-header-size=9000 --require "/)
})
