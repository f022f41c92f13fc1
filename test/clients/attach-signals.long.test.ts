import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { joinCommandLine } from '../../src/model/index.js'
import { leftOut } from '../behaviour/run-cli.js'
import { cli, createStage, isRunning, readIfThere, server, until, type Stage } from '../behaviour/stage.js'
import { noTerminal, openTerminal, type Terminal } from './terminal.js'

const why = process.platform === 'linux' ? noTerminal : 'they look into /proc'
const isLeftOut = leftOut(why === undefined, `screens that get signals: ${why}`)

const closing: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

/** Captures to attach to. */
async function captures(count: number): Promise<Stage> {
  const stage = createStage()
  closing.push(() => stage.close())
  const live = join(stage.env['XDG_DATA_HOME']!, 'wiretape', 'live')
  for (let n = 0; n < count; n += 1)
    stage.start(stage.record(server('mini-mcp.mjs'), ['--label', `capture${n}`]))
  const listening = (): string[] =>
    existsSync(live)
      ? readdirSync(live).filter((name) => readIfThere(join(live, name)).includes('socket'))
      : []
  if (count > 0) await until('they listen', () => listening().length === count)
  return stage
}

/** Runs the screen in a terminal, inside of a shell with job control. */
async function inShell(
  stage: Stage,
  args: readonly string[],
  shows: string | RegExp,
  env: NodeJS.ProcessEnv = {},
): Promise<{ terminal: Terminal; pid: number }> {
  const shell = ['bash', '--norc', '--noprofile', '-i']
  const terminal = openTerminal(stage, shell, { columns: 120, env: { VISUAL: '', ...env } })
  closing.push(() => terminal.close())
  await terminal.shows(/[$#]/)
  terminal.type(joinCommandLine([process.execPath, cli, ...args]))
  terminal.press('Enter')
  await terminal.shows(shows)
  const children = readFileSync(`/proc/${terminal.pid()}/task/${terminal.pid()}/children`, 'utf8')
  return { terminal, pid: Number(children.trim()) }
}

/** The shell has its terminal back in the former state, and runs commands. */
async function isTheShells(terminal: Terminal): Promise<string> {
  terminal.type("stty -a | grep -o '.icanon'; echo status $?")
  terminal.press('Enter')
  const screen = await terminal.shows('status 0')
  expect(screen).toContain(' icanon')
  expect(screen).not.toContain('q quit')
  return screen
}

describe.skipIf(isLeftOut)('a screen', () => {
  it.each(['SIGTSTP', 'SIGSTOP'] as const)(
    'that %s has stopped is redrawn when its shell continues it',
    async (signal) => {
      const { terminal, pid } = await inShell(await captures(1), ['attach'], '● live')
      process.kill(pid, signal)
      await terminal.shows('Stopped')
      // SIGSTOP cannot be handled, so the terminal is not restored.
      if (signal === 'SIGTSTP') await isTheShells(terminal)
      terminal.resize(90, 20)
      terminal.type('fg')
      terminal.press('Enter')
      const screen = await terminal.shows(/^ capture0 .*● live\ntime(?:.*\n){17}.*q quit/)
      expect(screen).not.toContain('Stopped')
      terminal.press('?')
      await terminal.shows('start holding messages, or forward all')
      terminal.press('Escape')
      await terminal.shows('no messages yet')
      terminal.press('q')
      await isTheShells(terminal)
    },
  )

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'that %s ends gives its terminal back',
    async (signal) => {
      const { terminal, pid } = await inShell(await captures(1), ['attach'], '● live')
      process.kill(pid, signal)
      await until('it is over', () => !isRunning(pid))
      await isTheShells(terminal)
    },
  )

  it('that ends while an editor is open ends the editor too, and prints the path of the text', async () => {
    const stage = await captures(1)
    const editor = stage.path('editor')
    const opened = stage.path('opened')
    writeFileSync(editor, `#!/bin/sh\necho typed > "$1"\ntouch '${opened}'\nexec sleep 600\n`, {
      mode: 0o700,
    })
    const { terminal, pid } = await inShell(stage, ['attach'], '● live', {
      EDITOR: editor,
      TMPDIR: stage.folder,
    })
    terminal.press('c')
    await terminal.shows('Ctrl+O')
    terminal.press('C-o')
    await until('the editor is open', () => existsSync(opened))
    // The path must be on one line.
    terminal.resize(200, 20)
    process.kill(pid, 'SIGTERM')
    await until('it is over', () => !isRunning(pid))
    const screen = await terminal.shows('the editor was closed together with the screen')
    const [kept] = /\S+wiretape-edit-\w+/.exec(screen)!
    expect(readFileSync(join(kept, 'message.json'), 'utf8')).toBe('typed\n')
    await isTheShells(terminal)
  })
})

describe.skipIf(isLeftOut)('a list of captures', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('that %s ends gives its terminal back', async (signal) => {
    const { terminal, pid } = await inShell(await captures(2), ['attach'], '2 captures are live')
    process.kill(pid, signal)
    await until('it is over', () => !isRunning(pid))
    expect(await isTheShells(terminal)).not.toContain('captures are live')
  })

  it('that was stopped is redrawn when its shell continues it', async () => {
    const { terminal, pid } = await inShell(await captures(2), ['attach'], '2 captures are live')
    process.kill(pid, 'SIGTSTP')
    await terminal.shows('Stopped')
    expect(await isTheShells(terminal)).not.toContain('captures are live')
    terminal.type('fg')
    terminal.press('Enter')
    expect(await terminal.shows(/^ 2 captures are live.*q leave/s)).not.toContain('Stopped')
  })
})

describe.skipIf(isLeftOut)('the screen that owns a capture', () => {
  it('ends the capture and saves it when its process is told to end', async () => {
    const stage = await captures(0)
    const file = stage.path('own.session.json')
    const target = ['--target-command', joinCommandLine(server('mini-mcp.mjs')), '--session-file', file]
    const { terminal, pid } = await inShell(stage, ['proxy', 'start', ...target], '● live')
    process.kill(pid, 'SIGTERM')
    await until('it is over', () => !isRunning(pid))
    await terminal.shows(/recorded \d+ messages/)
    expect(JSON.parse(readFileSync(file, 'utf8'))).toHaveProperty('messages')
    await isTheShells(terminal)
  })
})
