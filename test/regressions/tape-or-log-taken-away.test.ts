import { readFileSync, truncateSync } from 'node:fs'
import { expect, it } from 'vitest'
import { printed, until, useStage } from '../behaviour/stage.js'

const stage = useStage()

const ping = (id: number): string => `{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`

it('a tape that is cut to nothing while it is written leaves a gap, and no holes', async () => {
  const recorder = stage.start(stage.record(['cat']))
  const text = (path: string): string => readFileSync(path, 'utf8')
  recorder.stdin.write(ping(1))
  await printed(recorder, ping(1))
  await until('it is on the tape', () => text(stage.tape()).split('\n').length >= 4)
  truncateSync(stage.tape(), 0)
  recorder.stdin.end(ping(2))
  await recorder.ended
  const next = text(stage.tapes().find((name) => name.endsWith('.1.jsonl'))!)
  const lines = next
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(lines[0]).toMatchObject({ type: 'meta' })
  expect(lines[1]).toMatchObject({ type: 'gap', lost: 2 })
  expect(lines.filter((line) => line['raw'] !== undefined)).toHaveLength(2)
  expect(lines.at(-1)).toMatchObject({ type: 'end' })
})

it('a log that cannot be written costs the server neither its life nor its stdout', async () => {
  const script = 'echo one; echo log >&2; read line; echo log >&2; echo "$line"; exit 3'
  const recorder = stage.start([
    'sh',
    '-c',
    'exec "$@" 2>/dev/full',
    'sh',
    ...stage.record(['sh', '-c', script]),
  ])
  await printed(recorder, 'one\n')
  recorder.stdin.end('two\n')
  expect(await recorder.ended).toEqual({ exitCode: 3, signal: null })
  expect(recorder.stdout().toString()).toBe('one\ntwo\n')
  expect(readFileSync(stage.tape(), 'utf8').match(/"type":"stderr"/g)).toHaveLength(2)
})
