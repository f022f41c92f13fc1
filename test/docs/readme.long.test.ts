/** The README's sixty seconds work as typed. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { plainEnv, run } from '../behaviour/run-cli.js'
import { cli } from '../behaviour/stage.js'

const project = resolve(import.meta.dirname, '../..')
let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'wiretape-readme-'))
  mkdirSync(join(folder, 'bin'))
  symlinkSync(cli, join(folder, 'bin', 'wiretape'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

it('a call is recorded, listed, inspected and explained', async () => {
  const text = readFileSync(join(project, 'README.md'), 'utf8')
  const [, section = ''] = /^## Sixty seconds\n([^]*?)^## /m.exec(text) ?? []
  const [, block = ''] = /^```sh\n([^]*?)^```$/m.exec(section) ?? []
  // A browser that opens ends nothing: the viewer has tests of its own.
  const commands = block.split('\n').filter((line) => line !== '' && !line.startsWith('wiretape ui'))
  expect(commands.length).toBeGreaterThan(3)
  const outputs: string[] = []
  for (const command of commands) {
    const env = {
      ...plainEnv(),
      PATH: `${join(folder, 'bin')}:${process.env['PATH']}`,
      XDG_DATA_HOME: join(folder, 'data'),
    }
    // In the checkout, npx takes the server from node_modules.
    const { code, stdout, stderr } = await run(['sh', '-c', command], { cwd: project, env })
    expect({ code }, `${command}\n${stdout}${stderr}`).toEqual({ code: 0 })
    outputs.push(stdout)
  }
  expect(outputs[0]).toContain('Echo: hello')
  expect(outputs[1]).toContain('1 recording')
  expect(outputs[2]).toContain('tools/call echo')
})
