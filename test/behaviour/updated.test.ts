/**
 * wiretape is replaced by another version, or removed, while a capture runs: modules that it has not loaded are
 * missing.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import net from 'node:net'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { attach, socketOf } from './attach.js'
import { answerTo, ping } from './mini-talk.js'
import { cli, server, until, type Actor, useStage } from './stage.js'
import { linesOfTape, type Line } from './tape-bytes.js'

const stage = useStage()

/** A copy of the program that can be removed. */
function install(): { cli: string; update: () => void } {
  const project = join(import.meta.dirname, '../..')
  const bin = stage.path('package/dist/bin')
  mkdirSync(dirname(bin), { recursive: true })
  cpSync(dirname(cli), bin, { recursive: true })
  cpSync(join(project, 'package.json'), stage.path('package/package.json'))
  symlinkSync(join(project, 'node_modules'), stage.path('package/node_modules'))
  return {
    cli: join(bin, 'wiretape.js'),
    update() {
      for (const name of readdirSync(bin)) rmSync(join(bin, name), { recursive: true })
    },
  }
}

async function record(installed: string, options: readonly string[] = []): Promise<Actor> {
  const argv = [process.execPath, installed, 'record', '--out', stage.out, ...options, '--']
  const recorder = stage.start([...argv, ...server('mini-mcp.mjs')])
  await recorder.send(ping(1))
  await answerTo(recorder, 1)
  return recorder
}

const updated = 'wiretape was updated or removed while this capture ran'

it('a screen that attaches afterwards gets an error, and the session goes on to its end', async () => {
  const { cli: installed, update } = install()
  const recorder = await record(installed, ['--session-file', stage.path('s.json')])
  const path = await socketOf(stage)
  update()
  let said = ''
  for (let n = 0; n < 2; n += 1) {
    said = ''
    const socket = net.connect(path)
    socket.on('data', (chunk) => (said += String(chunk)))
    socket.on('error', () => undefined)
    await new Promise((closed) => socket.once('close', closed))
  }
  expect(JSON.parse(said)).toMatchObject({
    type: 'refused',
    code: 'version',
    message: expect.stringContaining(updated),
  })
  await recorder.send(ping(2))
  await answerTo(recorder, 2)
  recorder.stdin.end()
  expect(await recorder.ended).toEqual({ exitCode: 0, signal: null })
  expect(recorder.stderr().toString()).toMatch(
    /^wiretape: the session file is not complete: .*\(wiretape convert .*\)\n$/,
  )
  expect(linesOfTape(stage.tape()).at(-1)).toMatchObject({ type: 'end', exitCode: 0 })
  expect(existsSync(stage.path('s.json'))).toBe(false)
})

it('a screen that was attached before gets the reason why a command failed', async () => {
  const { cli: installed, update } = install()
  const recorder = await record(installed)
  const screen = await attach(stage)
  update()
  for (const type of ['hold', 'annotate']) {
    const command: Line = type === 'hold' ? { type, on: true } : { type, text: 'x' }
    expect(await screen.ask(command)).toMatchObject({
      ok: false,
      error: { code: 'file', message: expect.stringContaining(updated) },
    })
  }
  await recorder.send(ping(2))
  await answerTo(recorder, 2)
  await until('the screen sees it', () => screen.records().filter(({ type }) => !type).length === 4)
  recorder.stdin.end()
  expect(await recorder.ended).toEqual({ exitCode: 0, signal: null })
  expect(readFileSync(stage.tape(), 'utf8')).toContain('"type":"end"')
})
