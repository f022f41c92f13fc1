import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { wiretapeIn } from '../behaviour/run-cli.js'
import { useStage } from '../behaviour/stage.js'

const stage = useStage()
const cli = wiretapeIn(stage)

const t = '2026-05-12T23:00:00.000Z'
const others = [
  `{"t":"${t}","dir":"event","raw":{"name":"spawned"}}`,
  `{"t":"${t}","dir":"telemetry","cpu":1e3}`,
]
const tape = [
  `{"v":1,"type":"meta","startedAt":"${t}","label":"files","command":["x"]}`,
  others[0]!,
  `{"t":"${t}","dir":"in","raw":{"jsonrpc":"2.0","id":1,"method":"ping"}}`,
  others[1]!,
  `{"t":"${t}","dir":"out","raw":{"jsonrpc":"2.0","id":1,"result":{}}}`,
  `{"t":"${t}","type":"end","exitCode":0,"durationMs":0}`,
]

it('lines of a trace with another "dir" are no fault, and stay where they are in every conversion', async () => {
  writeFileSync(stage.path('in.jsonl'), `${tape.join('\n')}\n`)
  expect(await cli('inspect', '--check', 'in.jsonl')).toMatchObject({ code: 0, stderr: '' })
  for (const name of ['out.jsonl', 'out.json', 'back.jsonl']) {
    const from = name === 'back.jsonl' ? 'out.json' : 'in.jsonl'
    expect(await cli('convert', from, name)).toMatchObject({ code: 0, stderr: '' })
  }
  for (const name of ['out.jsonl', 'back.jsonl']) {
    const lines = readFileSync(stage.path(name), 'utf8').trimEnd().split('\n')
    expect([lines[1], lines[3]]).toEqual(others)
    expect(lines).toHaveLength(tape.length)
  }
})

it('a line with no "dir" at all is a fault still', async () => {
  writeFileSync(stage.path('in.jsonl'), `${tape.with(1, `{"t":"${t}","raw":{}}`).join('\n')}\n`)
  expect((await cli('inspect', '--check', 'in.jsonl')).stdout).toContain('"dir" of a message line')
})
