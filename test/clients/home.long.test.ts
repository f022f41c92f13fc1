/** The home screen, saved recordings and several captures at once, on a real terminal. */
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { leftOut, plainEnv, wiretape } from '../behaviour/run-cli.js'
import { cli, server, until, type Actor, useStage } from '../behaviour/stage.js'
import { noTerminal, openTerminal, type Terminal } from './terminal.js'

const isLeftOut = leftOut(noTerminal === undefined, `the home screen: ${noTerminal}`)
const sizes = [
  [80, 24],
  [200, 60],
] as const

const stage = useStage()
let terminal: Terminal | undefined
afterEach(async () => {
  terminal?.close()
})

const recordings = (): string => join(stage.env['XDG_DATA_HOME']!, 'wiretape/recordings')
const call = async (tool: string): Promise<void> => {
  const argv = ['call', tool, '--', ...server('varying-mcp.mjs')]
  const { code } = await wiretape(argv, { cwd: stage.folder, env: plainEnv(stage.env) })
  expect(code).toBe(0)
}
const ping = (id: number): string => `{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`
/** A running capture with a message on its tape. */
async function live(label: string): Promise<Actor> {
  const argv = [
    process.execPath,
    cli,
    'record',
    '--out',
    recordings(),
    '--label',
    label,
    '--',
    ...server('mini-mcp.mjs'),
  ]
  const actor = stage.start(argv)
  await actor.send(ping(1))
  await until('it answers', () => actor.stdout().includes('"result"'))
  return actor
}
const open = (columns: number, rows: number, ...args: string[]): Terminal =>
  (terminal = openTerminal(stage, [process.execPath, cli, ...args], { columns, rows }))

describe.skipIf(isLeftOut)('the home screen', () => {
  it.each(sizes)('opens a saved recording, a live capture, and goes back: %i x %i', async (columns, rows) => {
    await call('price')
    const actor = await live('running')
    const screen = open(columns, rows)
    await screen.shows('2 recordings, 1 live')
    await screen.shows(/● running.*live/)
    await screen.shows('wiretape install')
    screen.press('Enter')
    await screen.shows(/running .*● live/)
    await actor.send(ping(2))
    await screen.shows('4 rows')
    screen.press('q')
    await screen.shows('2 recordings, 1 live')
    screen.press('j', 'Enter')
    await screen.shows('tools/call price')
    const saved = await screen.shows(/^ \S+ .* saved *$/m)
    expect(saved).toContain('[SAVED]')
    expect(saved).not.toContain('forward')
    screen.press('q')
    await screen.shows('2 recordings, 1 live')
    screen.press('q')
    await screen.ended()
  })

  it('shows several live captures as one', async () => {
    const [first, second] = [await live('first'), await live('second')]
    const screen = open(120, 30)
    await screen.shows('2 recordings, 2 live')
    screen.press('Space', 'Space', 'Enter')
    await screen.shows(/second \+ first|first \+ second/)
    await screen.shows('4 rows')
    await first.send(ping(2))
    await screen.shows('6 rows')
    await second.send(ping(3))
    await screen.shows('8 rows')
    screen.press('i')
    await screen.shows('attach to one of them to change messages')
    first.stdin.end()
    await first.ended
    await second.send(ping(4))
    await screen.shows('10 rows')
    second.stdin.end()
    await screen.shows('ended')
    screen.press('q')
    await screen.shows('2 recordings')
  })
})

describe.skipIf(isLeftOut)('wiretape attach', () => {
  it('opens recordings by their names, merged', async () => {
    await call('price')
    await call('status')
    const screen = open(100, 30, 'attach', 'latest', 'latest~1')
    const shown = await screen.shows('tools/call status')
    expect(shown).toContain('tools/call price')
    expect(shown).toContain('[SAVED]  10 rows')
    screen.press('/')
    screen.type('tool:price')
    screen.press('Enter')
    await screen.shows('2 of 10')
  })
})
