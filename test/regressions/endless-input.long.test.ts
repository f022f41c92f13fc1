import { createReadStream, existsSync, readFileSync, readdirSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { beforeEach, describe, expect, it } from 'vitest'
import { fixtures } from '../behaviour/run-cli.js'
import { cli, type Actor, useStage } from '../behaviour/stage.js'

const stage = useStage()
beforeEach(() => {
  mkdirSync(stage.path('tmp'))
})

const inspect = (file: string): Actor =>
  stage.start([process.execPath, cli, 'inspect', file], {
    env: { ...stage.env, TMPDIR: stage.path('tmp') },
  })

async function refuses(actor: Actor, name: string): Promise<void> {
  expect(await actor.ended).toEqual({ exitCode: 2, signal: null })
  expect(actor.stderr().toString()).toMatch(new RegExp(`^wiretape: ${name} is not a recording: [^\\n]+\\n$`))
  expect(readdirSync(stage.path('tmp'))).toEqual([])
}

describe('an input without an end that is no recording', () => {
  it.runIf(existsSync('/dev/zero'))('is refused by its start: zeros', async () => {
    await refuses(inspect('/dev/zero'), '/dev/zero')
  })

  it.runIf(existsSync('/dev/zero'))('is refused by its start: zeros on stdin', async () => {
    const actor = inspect('-')
    createReadStream('/dev/zero').pipe(actor.stdin)
    await refuses(actor, 'stdin')
  })

  it('is refused by its start: lines', async () => {
    const actor = inspect('-')
    Readable.from(endless('{"hello":"world"}\n')).pipe(actor.stdin)
    await refuses(actor, 'stdin')
  })
})

it('a recording on stdin is read to its end, in whatever pieces it comes', async () => {
  const tape = readFileSync(join(fixtures, 'faultless.jsonl'), 'utf8')
  const [meta, message] = tape.split('\n') as [string, string]
  const actor = inspect('-')
  const sent = async (): Promise<void> => {
    await actor.send(meta.slice(0, 20))
    await actor.send(`${meta.slice(20)}\n`)
    for (let i = 0; i < 100; i += 1) await actor.send(`${message}\n`.repeat(20))
    actor.stdin.end(tape.slice(meta.length + 1))
  }
  await sent()
  expect(await actor.ended).toEqual({ exitCode: 0, signal: null })
  expect(actor.stdout().toString()).toMatch(/^2,003 messages · /m)
})

function* endless(line: string): Generator<string> {
  for (;;) yield line
}
