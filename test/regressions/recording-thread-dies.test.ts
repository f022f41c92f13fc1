/**
 * A message that needs more memory than the recording thread has ends it. The thread gets little here
 * (WIRETAPE_RECORDER_HEAP_MB), so that a message of some megabytes is enough.
 */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { cli, until } from '../behaviour/stage.js'
import {
  both,
  call,
  hostile,
  numbersFrom,
  replaced,
  sorted,
  stdioServer,
  useDyingThread,
} from './recording-thread-stage.js'

const { stage, start, secondSegment } = useDyingThread()

describe('a message that ends the recording thread', () => {
  it('of a stdio server: a new thread records what follows behind a gap, and all else goes on', async () => {
    const session = stage.path('session.json')
    const recorder = start(['record', '--out', stage.out, '--session-file', session, '--', ...stdioServer])
    await recorder.send(`${call(1)}\n`)
    await until('it is recorded', () =>
      stage.tapes().some((path) => readFileSync(path, 'utf8').includes('"result":{')),
    )
    const tail = stage.start([process.execPath, cli, 'tail', '--json'])
    await until('it is told', () => tail.stdout().length > 0)
    await recorder.send(`${hostile}\n`)
    await replaced(recorder)
    const ids = numbersFrom(100)
    for (const id of ids) await recorder.send(`${call(id)}\n`)
    await until('all is answered', () => recorder.stdout().toString().split('\n').length === 43)
    await until('it is told', () =>
      tail.stdout().toString().includes('"raw":{"jsonrpc":"2.0","id":139,"result"'),
    )
    recorder.stdin.end()
    expect(await tail.ended).toEqual({ exitCode: 0, signal: null })
    expect(tail.stdout().toString()).toContain('"type":"gap"')
    expect(await recorder.ended).toEqual({ exitCode: 3, signal: null })
    const { ids: recorded } = await secondSegment()
    expect(sorted(recorded.filter((id) => id !== 'hostile'))).toEqual(both(ids))
    const saved = JSON.parse(readFileSync(session, 'utf8')) as { messages: { jsonrpc_id?: unknown }[] }
    expect(saved.messages.length).toBeGreaterThanOrEqual(82)
    expect(recorder.stderr().toString().trim().split('\n')).toHaveLength(2)
  })
})
