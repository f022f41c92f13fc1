import { describe, expect, it } from 'vitest'
import { wiretapeIn } from './run-cli.js'
import { server, useStage } from './stage.js'

const stage = useStage()

const here = wiretapeIn(stage)

describe('wiretape alone, without a terminal', () => {
  it('prints how to begin', async () => {
    const { code, stdout, stderr } = await here()
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    expect(stdout).toMatch(/^No recordings yet\n\nwiretape record -- COMMAND/)
    expect(stdout).toContain('wiretape --help')
  })

  it('lists the last recordings, live ones first', async () => {
    for (const label of ['first', 'second'])
      await here('record', '--quiet', '--label', label, '--', process.execPath, '-e', '')
    stage.start(
      [process.execPath, ...stage.record(server('mini-mcp.mjs'), ['--label', 'running']).slice(1)].map(
        (word) => (word === stage.out ? `${stage.env['XDG_DATA_HOME']}/wiretape/recordings` : word),
      ),
    )
    let stdout = ''
    for (let tries = 0; tries < 200 && !stdout.includes('1 live'); tries += 1) stdout = (await here()).stdout
    expect(stdout).toMatch(/^3 recordings, 1 live\n● running .*live\n {2}second .*0 messages\n {2}first /)
  })
})
