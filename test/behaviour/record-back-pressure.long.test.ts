import { existsSync, statSync } from 'node:fs'
import { once } from 'node:events'
import { expect, it } from 'vitest'
import { readIfThere, server, settled, until, writtenBytes, useStage } from './stage.js'
import { linesOfType } from './tape-bytes.js'

const megabyte = 1_000_000
/** Bytes of a stopped stream that the kernel's, Node's and our buffers may hold. */
const inFlightBytes = 4 * megabyte
const hasProc = existsSync('/proc/self/io')

const stage = useStage()

const tapeBytes = (): number => stage.tapes().reduce((sum, path) => sum + statSync(path).size, 0)

it.skipIf(!hasProc)(
  'stops a server whose client does not read, in little memory, and loses nothing',
  async () => {
    const bytes = 60 * megabyte
    const recorder = stage.start(stage.record(server('flood.mjs', '60000', '1000')), { read: false })
    const flood = await until('the server runs', () =>
      stage
        .running()
        .find((pid) => readIfThere(`/proc/${pid}/cmdline`).includes('flood.mjs\0') && pid !== recorder.pid),
    )
    const written = await settled(() => writtenBytes(flood), 100_000)
    expect(written).toBeLessThan(inFlightBytes)

    recorder.read()
    await once(recorder.output, 'end')
    const peakKb = Number(/^VmHWM:\s+(\d+)/m.exec(readIfThere(`/proc/${recorder.pid}/status`))?.[1])
    expect((await recorder.ended).exitCode).toBe(0)
    expect(recorder.stdout()).toHaveLength(bytes)
    expect(linesOfType(stage.tape(), undefined)).toHaveLength(60_000)
    expect(linesOfType(stage.tape(), 'gap')).toEqual([])
    if (!Number.isNaN(peakKb)) expect(peakKb).toBeLessThan(200_000)
  },
)

it.skipIf(!hasProc)(
  'stops a client whose server does not read, and reports the bytes that were not delivered',
  async () => {
    const recorder = stage.start(stage.record(server('deaf.mjs')), { detached: true })
    const line = `{"jsonrpc":"2.0","method":"n","params":{"data":"${'x'.repeat(9_950)}"}}\n`
    let taken = 0
    let sent = 0
    for (; sent < 20 * megabyte; sent += line.length)
      void recorder.send(line).then(() => (taken += line.length))
    // More than the server's pipe holds: a part of it waits in the recorder.
    await settled(() => tapeBytes(), 120_000)
    expect(taken).toBeLessThan(inFlightBytes)

    recorder.child.kill('SIGTERM')
    expect((await recorder.ended).exitCode).toBe(143)
    const messages = linesOfType(stage.tape(), undefined)
    const undelivered = linesOfType(stage.tape(), 'undelivered')
    expect(undelivered.length).toBeGreaterThan(0)
    expect(undelivered.length).toBeLessThan(messages.length)
    expect(undelivered.map(({ id }) => id)).toEqual(messages.slice(-undelivered.length).map(({ id }) => id))
  },
)
