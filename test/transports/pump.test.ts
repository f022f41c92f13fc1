import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { PassThrough, Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { PooledMemory, RegionPool } from '../../src/proxy/index.js'
import { MemorySocket } from '../../src/transports/stdio/memory-socket.js'
import { Pump } from '../../src/transports/stdio/pump.js'

/** A destination that accepts a chunk only when the test lets it, or fails. */
function createGate() {
  const taken: string[] = []
  let pending: ((error?: Error) => void) | undefined
  const stream = new Writable({
    highWaterMark: 8,
    write(chunk: Buffer, _encoding, callback) {
      pending = (error) => {
        if (!error) taken.push(chunk.toString())
        callback(error)
      }
    },
  })
  const settle = (error?: Error): void => {
    const take = pending
    pending = undefined
    take?.(error)
  }
  return { stream, taken, settle }
}

function createScene() {
  const source = new PassThrough()
  const gate = createGate()
  const seen: string[] = []
  const pump = new Pump(source, gate.stream, {
    chunk: (bytes) => seen.push(bytes.toString()),
    ended: () => seen.push('ended'),
    broken: (deliveredBytes, why) => seen.push(`broken after ${deliveredBytes}: ${why}`),
  })
  return { source, gate, seen, pump }
}

const turn = (): Promise<void> => new Promise((done) => setImmediate(done))
const failure = (code: string): Error => Object.assign(new Error(code), { code })

describe('a pump', () => {
  it('stops the source while the destination is slow, and goes on when it has room', async () => {
    const { source, gate, seen, pump } = createScene()
    source.write('12345678')
    await turn()
    source.write('more')
    await turn()
    expect(seen).toEqual(['12345678'])
    expect(pump.blocked).toBe(true)
    gate.settle()
    await turn()
    expect(pump.blocked).toBe(false)
    expect(seen).toEqual(['12345678', 'more'])
  })

  it('reads on when the destination takes a large chunk at once', async () => {
    const source = new PassThrough()
    const destination = new Writable({ highWaterMark: 8, write: (_chunk, _encoding, taken) => taken() })
    const seen: string[] = []
    const pump = new Pump(source, destination, {
      chunk: (bytes) => seen.push(`${bytes.toString()}${pump.blocked ? ' blocked' : ''}`),
      ended: () => undefined,
      broken: () => undefined,
    })
    source.on('pause', () => seen.push('paused'))
    source.write('123456789')
    source.write('more')
    await turn()
    expect(seen).toEqual(['123456789', 'more'])
  })

  it('reads the output of a child into given memory, and keeps it until it is written', async () => {
    const pool = new RegionPool()
    const child = spawn(process.execPath, ['-e', `process.stdout.write('x'.repeat(300_000))`])
    const output = MemorySocket.instead(child.stdout, new PooledMemory(pool))
    const taken: Buffer[] = []
    const destination = new Writable({
      write(chunk: Buffer, _encoding, callback) {
        setImmediate(() => {
          taken.push(Buffer.from(chunk))
          callback()
        })
      },
    })
    const owners = new Set<ArrayBufferLike>()
    const pump = new Pump(output, destination, {
      chunk: ({ buffer }) => owners.add(buffer),
      ended: () => undefined,
      broken: () => undefined,
    })
    await Promise.all([once(child, 'exit'), pump.done])
    expect(Buffer.concat(taken).toString()).toBe('x'.repeat(300_000))
    expect([...owners].every((buffer) => buffer instanceof SharedArrayBuffer)).toBe(true)
  })

  it('is done at the end of the source, when the destination has taken everything', async () => {
    const { source, gate, seen, pump } = createScene()
    let isDone = false
    void pump.done.then(() => (isDone = true))
    source.end('last')
    await turn()
    expect(seen).toEqual(['last', 'ended'])
    expect(isDone).toBe(false)
    gate.settle()
    await turn()
    gate.settle()
    await pump.done
    expect(gate.taken.join('')).toBe('last')
    expect(pump.broken).toBe(false)
  })

  it('holds and goes on as it is told, also while the destination is slow', async () => {
    const { source, gate, seen, pump } = createScene()
    pump.hold(true)
    source.write('12345678')
    await turn()
    expect(seen).toEqual([])
    pump.hold(false)
    await turn()
    source.write('more')
    pump.hold(true)
    gate.settle()
    await turn()
    expect(seen).toEqual(['12345678'])
    pump.hold(false)
    await turn()
    expect(seen).toEqual(['12345678', 'more'])
  })

  it.each([
    ['while the source goes on', false],
    ['after the end of the source', true],
  ])('reports the delivered bytes when the destination fails %s', async (_, ended) => {
    const { source, gate, seen, pump } = createScene()
    source.write('1234')
    await turn()
    gate.settle()
    await turn()
    source.write('lost')
    await turn()
    if (ended) source.end()
    await turn()
    gate.settle(failure('EPIPE'))
    await pump.done
    expect(seen.filter((text) => text !== 'ended')).toEqual(['1234', 'lost', 'broken after 4: EPIPE'])
    expect(seen.filter((text) => text === 'ended')).toHaveLength(1)
    expect(pump.broken).toBe(true)
  })

  it('that is stopped reports the bytes that the destination has not taken', async () => {
    const { source, seen, pump } = createScene()
    source.write('lost')
    await turn()
    pump.stop('gone')
    pump.stop('again')
    await pump.done
    expect(seen).toEqual(['lost', 'ended', 'broken after 0: gone'])
  })

  it('that is stopped with nothing under way is done', async () => {
    const { source, gate, seen, pump } = createScene()
    source.write('1234')
    await turn()
    gate.settle()
    await turn()
    pump.stop('gone')
    await pump.done
    expect(seen).toEqual(['1234', 'ended'])
    expect(pump.broken).toBe(false)
  })

  it('takes an error of the source for its end', async () => {
    const { source, seen, pump } = createScene()
    source.destroy(failure('EIO'))
    await pump.done
    expect(seen).toEqual(['ended'])
  })

  it('outlives errors that come later', async () => {
    const { source, gate, pump } = createScene()
    source.end()
    await pump.done
    gate.stream.destroy(failure('ECONNRESET'))
    await turn()
    expect(pump.broken).toBe(false)
  })
})
