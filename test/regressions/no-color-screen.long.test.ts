import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { socketOf } from '../behaviour/attach.js'
import { leftOut } from '../behaviour/run-cli.js'
import { cli, server, useStage } from '../behaviour/stage.js'
import { noTerminal, openTerminal } from '../clients/terminal.js'

const stage = useStage()

describe.skipIf(leftOut(noTerminal === undefined, noTerminal ?? ''))('with NO_COLOR', () => {
  it('attach draws its screen, and Node warns of nothing', async () => {
    stage.start(stage.record(server('mini-mcp.mjs')))
    await socketOf(stage)
    const errors = stage.path('errors')
    const attach = `${process.execPath} ${cli} attach 2> ${errors}`
    const terminal = openTerminal(stage, ['sh', '-c', attach], { env: { NO_COLOR: '1' } })
    try {
      await terminal.shows('q quit')
      terminal.press('q')
      await terminal.ended()
      expect(readFileSync(errors, 'utf8')).not.toContain('Warning')
    } finally {
      terminal.close()
    }
  })
})
