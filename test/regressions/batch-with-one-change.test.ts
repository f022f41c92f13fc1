import { readFileSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { wiretapeIn } from '../behaviour/run-cli.js'
import { useStage } from '../behaviour/stage.js'
import type { Line } from '../behaviour/tape-bytes.js'
import { identity } from '../fixtures/identity.mjs'

const stage = useStage()
const cli = wiretapeIn(stage)

const t = '2026-01-01T00:00:00.000Z'
const ping = (id: number, n: number): string =>
  `{"jsonrpc":"2.0","id":${id},"method":"ping","params":{"n":${n}}}`
const meta = {
  v: 1,
  type: 'meta',
  startedAt: t,
  label: 'l',
  command: [],
  wiretape: { ...identity, metadata: {} },
}
const batch = (raw: readonly string[], original: readonly string[]): string => {
  const parts = JSON.stringify(raw.map((_, i) => ({ id: `m${i}` })))
  return `{"t":"${t}","dir":"in","raw":[${raw.join(',')}],"id":"m0","seq":0,"us":0,"batch":${parts},"modified":true,"original":[${original.join(',')}]}`
}

it.each([
  ['one element was answered by a rule', [ping(1, 1), ping(3, 3)], [ping(1, 1), ping(2, 2), ping(3, 3)]],
  ['the first was changed', [ping(1, 9), ping(2, 2)], [ping(1, 1), ping(2, 2)]],
  ['the last was changed', [ping(1, 1), ping(2, 9)], [ping(1, 1), ping(2, 2)]],
])('a session file lists the changes within a batch: %s', async (_, raw, original) => {
  const tape = `${JSON.stringify(meta)}\n${batch(raw, original)}\n`
  writeFileSync(stage.path('t.jsonl'), tape)
  await cli('convert', 't.jsonl', 's.json')
  const session: Line = JSON.parse(readFileSync(stage.path('s.json'), 'utf8'))
  const seen = session['messages'].map(({ modified, payload, original_payload }: Line) => [
    modified,
    payload,
    original_payload,
  ])
  expect(seen).toEqual(
    raw.map((text) => {
      const payload = JSON.parse(text)
      const before = original.map((each) => JSON.parse(each)).find(({ id }) => id === payload.id)
      return original.includes(text) ? [false, payload, undefined] : [true, payload, before]
    }),
  )
  await cli('convert', 's.json', 'b.jsonl')
  expect(readFileSync(stage.path('b.jsonl'), 'utf8')).toBe(tape)
})
