import { writeFileSync } from 'node:fs'
import { afterEach, describe, expect, it } from 'vitest'
import { answers, call } from '../behaviour/mini-talk.js'
import { leftOut } from '../behaviour/run-cli.js'
import { cli, server, until, useStage } from '../behaviour/stage.js'
import { called, listed, opened, tapeOf } from '../findings/stage.js'
import { noTerminal, openTerminal, type Terminal } from './terminal.js'

const isLeftOut = leftOut(noTerminal === undefined, `screens on a real terminal: ${noTerminal}`)

const stage = useStage()
let terminal: Terminal | undefined
afterEach(async () => {
  terminal?.close()
})

describe.skipIf(isLeftOut)('the list of findings on a real terminal', () => {
  it.each([
    { columns: 80, rows: 24 },
    { columns: 200, rows: 60 },
  ])('of a live capture, $columns x $rows', async ({ columns, rows }) => {
    const recorder = stage.start(stage.record(server('mini-mcp.mjs')))
    await recorder.send(call(1, 'echo', { text: 'x' }))
    await until('an answer', () => answers(recorder).length > 0 || undefined)
    terminal = openTerminal(stage, [process.execPath, cli, 'attach'], { columns, rows })
    await terminal.shows('! 1 error')
    terminal.press('!')
    await terminal.shows('Findings 1 error')
    await recorder.send(call(1, 'echo', { path: '../../etc/passwd' }))
    await terminal.shows('safety/argument')
    await terminal.shows('protocol/reused-id')
    terminal.press('G', 'Enter')
    await terminal.shows(/#2 tools\/call echo/)
    terminal.press('!')
    await terminal.shows('Findings 2 errors')
    // A key right after Escape would arrive as that key with Alt.
    terminal.press('Escape')
    await terminal.shows('q quit')
    recorder.stdin.end()
    await recorder.ended
    await terminal.shows('ended')
    terminal.press('q')
    await terminal.ended()
  })

  it('of a saved tape', async () => {
    const schema = { type: 'object', properties: { n: { type: 'number' } } }
    const tool = { name: 'add', description: 'Adds.', outputSchema: schema }
    const bad = called('add', {}, { content: [], structuredContent: { n: 'x' } })
    const tape = tapeOf([...opened(), ...listed(tool), ...bad], { wiretape: { session: 'saved' } })
    writeFileSync(stage.path('bad.jsonl'), tape)
    const argv = [process.execPath, cli, 'attach', stage.path('bad.jsonl')]
    terminal = openTerminal(stage, argv, { columns: 80, rows: 24 })
    await terminal.shows('! 1 error')
    terminal.press('!')
    const shown = await terminal.shows('A tool result does not match')
    expect(shown).toMatch(/^ error {4}schemas\/output +#6 /m)
    terminal.press('Enter')
    await terminal.shows(/#6 result of tools\/call add/)
    terminal.type('/level:error')
    terminal.press('Enter')
    await terminal.shows('1 of 7 rows')
    terminal.press('q')
    await terminal.ended()
  })
})
