import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createRecorder, type Recorder } from '../../src/proxy/index.js'
import type { ChunkBatch } from '../../src/proxy/chunk-batch.js'
import type { RecorderInit, RecorderMessage, RecordingReport } from '../../src/proxy/recorder-core.js'
import type { RecorderReply, RecorderWorker } from '../../src/proxy/recording-thread.js'
import { tellProgress, tellWork, watchedDisk } from '../../src/proxy/thread-state.js'
import { realDisk } from '../../src/tape/index.js'

const megabyte = 1024 * 1024
const report: RecordingReport = { paths: ['tape.jsonl'], messages: 7, gaps: 0, lost: 0, redacted: [] }

/** A recording thread that responds only when the test lets it. */
class FakeWorker extends EventEmitter {
  readonly posted: RecorderMessage[] = []
  given: RecorderInit | undefined
  terminated = false
  #answered = 0

  postMessage(message: RecorderMessage): void {
    this.posted.push(message)
  }

  terminate(): Promise<number> {
    this.terminated = true
    return Promise.resolve(1)
  }

  /** Answers up to `count` messages that are still without an answer. */
  answer(count = Infinity): void {
    for (; count > 0 && this.#answered < this.posted.length; count -= 1) {
      const closing = this.posted[this.#answered]!.kind === 'close'
      this.#answered += 1
      // The memory of the batches is not given back: the tests look into them later.
      const reply: RecorderReply = closing ? { kind: 'closed', report } : { kind: 'done' }
      this.emit('message', reply)
    }
  }

  get unansweredBytes(): number {
    return this.posted
      .slice(this.#answered)
      .reduce((sum, message) => sum + (message.kind === 'chunks' ? sizeOf(message.batch) : 0), 0)
  }

  kinds(): string[] {
    return this.posted.map(({ kind }) => kind)
  }
}

let worker: FakeWorker
let troubles: string[]
let pressure: boolean[]
let recorder: Recorder

beforeEach(() => {
  vi.useFakeTimers({
    toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'Date', 'performance', 'hrtime'],
  })
  pressure = []
  troubles = []
  const init = {
    tape: { path: 'tape.jsonl', fd: -1, sizeBytes: 0 },
    startedNs: process.hrtime.bigint(),
  } as RecorderInit
  recorder = createRecorder(init, {
    onPressure: (wait) => pressure.push(wait),
    pausesTraffic: true,
    onTrouble: (line) => troubles.push(line),
    startWorker(given) {
      worker = new FakeWorker()
      worker.given = given
      return worker as unknown as RecorderWorker
    },
  })
  worker.emit('message', { kind: 'ready' } satisfies RecorderReply)
})
afterEach(() => {
  vi.useRealTimers()
})

const sizeOf = (batch: ChunkBatch): number =>
  Object.values(batch.regions).reduce((sum, region) => sum + region.length, 0)

function batchOf(message: RecorderMessage | undefined): ChunkBatch {
  if (message?.kind !== 'chunks') throw new Error(`not a batch: ${message?.kind}`)
  return message.batch
}
const textOf = (region: Uint8Array | undefined): string => Buffer.from(region ?? []).toString()

/** Chunks as they come from a pipe. */
function flood(bytes: number, channel: 'in' | 'out' | 'err' = 'out'): void {
  for (let sent = 0; sent < bytes; sent += 65_536) {
    recorder.bytes(channel, Buffer.alloc(65_536, `${'x'.repeat(63)}\n`))
  }
}

describe('what passed', () => {
  it('is handed over in one batch after a moment, with where and when each chunk came', () => {
    recorder.bytes('in', Buffer.from('question\n'))
    vi.advanceTimersByTime(5)
    recorder.bytes('out', Buffer.from('answer\n'))
    expect(worker.posted).toEqual([])
    vi.advanceTimersByTime(35)
    const [batch, ...others] = worker.posted
    expect(others).toEqual([])
    const { regions, marks } = batchOf(batch)
    expect(textOf(regions.in)).toBe('question\n')
    expect(textOf(regions.out)).toBe('answer\n')
    expect(regions.err).toBeUndefined()
    expect([marks[0], marks[3], marks[4], marks[7]]).toEqual([0, 9, 1, 7])
    expect(marks[5]! - marks[1]!).toBeCloseTo(5000, 0)
    expect(marks[6]! - marks[2]!).toBe(5)
  })

  it('is handed over at once when it is much', () => {
    flood(65_536)
    worker.answer()
    flood(megabyte)
    expect(worker.posted.slice(1).map((one) => sizeOf(batchOf(one)))).toEqual([megabyte / 2, megabyte / 2])
  })

  it('is handed over in small batches to a slow thread, which still has some when senders may continue', () => {
    flood(65_536)
    vi.advanceTimersByTime(50)
    worker.answer()
    flood(megabyte / 2)
    expect(pressure).toEqual([])
    const sizes = worker.posted.slice(1).map((one) => sizeOf(batchOf(one)))
    expect(sizes).toEqual(Array.from({ length: 4 }, () => megabyte / 8))
  })

  it('is handed over before what is said about it', () => {
    recorder.bytes('out', Buffer.from('last'))
    recorder.ended('out')
    recorder.undelivered('out', 2, 'EPIPE')
    expect(worker.posted).toMatchObject([
      { kind: 'chunks' },
      { kind: 'ended', channel: 'out' },
      { kind: 'undelivered', channel: 'out', deliveredBytes: 2, why: 'EPIPE' },
    ])
  })
})

describe('when the recording thread does not keep up', () => {
  it('the senders have to wait at 64 kB while nobody knows how fast it is', () => {
    flood(65_536)
    expect(pressure).toEqual([])
    flood(65_536)
    expect(pressure).toEqual([true])
    worker.answer()
    expect(pressure).toEqual([true, false])
  })

  it('the senders have to wait at what it does in 25 ms', () => {
    flood(65_536)
    vi.advanceTimersByTime(2)
    worker.answer()
    // 64 kB in 2 ms.
    flood(12 * 65_536)
    expect(pressure).toEqual([])
    flood(65_536)
    expect(pressure).toEqual([true])
  })

  it('the senders have to wait at 16 MB however fast it is, and go on when half of it is done', () => {
    flood(65_536)
    worker.answer()
    flood(megabyte)
    worker.answer()
    flood(16 * megabyte)
    expect(pressure).toEqual([])
    flood(65_536)
    expect(pressure).toEqual([true])
    worker.answer(1)
    expect(pressure).toEqual([true])
    while (worker.unansweredBytes >= 8 * megabyte) worker.answer(1)
    expect(pressure).toEqual([true, false])
  })

  it('the senders have to wait as soon as something waited for 60 ms, and go on when it is written', () => {
    recorder.bytes('in', Buffer.from('1\n'))
    vi.advanceTimersByTime(50)
    recorder.bytes('in', Buffer.from('2\n'))
    expect(pressure).toEqual([])
    vi.advanceTimersByTime(20)
    recorder.bytes('in', Buffer.from('3\n'))
    expect(pressure).toEqual([true])
    worker.answer()
    vi.advanceTimersByTime(40)
    worker.answer()
    expect(pressure).toEqual([true, false])
  })

  it('the senders wait as long as there is progress, however slow it is', () => {
    flood(17 * megabyte)
    for (let i = 0; i < 10; i += 1) {
      vi.advanceTimersByTime(900)
      worker.answer(1)
    }
    expect(pressure).toEqual([true])
    worker.answer()
    expect(pressure).toEqual([true, false])
    expect(worker.kinds()).not.toContain('lost')
  })

  it('they wait longer for a thread that is at work on something huge than for a disk that does not move', () => {
    const { state } = worker.given!
    const disk = watchedDisk({ ...realDisk, fsyncSync: () => vi.advanceTimersByTime(1200) }, state!)
    tellWork(state!, true)
    flood(17 * megabyte)
    vi.advanceTimersByTime(9000)
    expect(pressure).toEqual([true])
    disk.fsyncSync(0)
    expect(pressure).toEqual([true, false])
  })

  it('they wait for a disk that is quick, however long the thread was at work before it wrote', () => {
    const { state } = worker.given!
    const disk = watchedDisk({ ...realDisk, writeSync: () => (vi.advanceTimersByTime(600), 1) }, state!)
    tellWork(state!, true)
    flood(17 * megabyte)
    for (let writes = 0; writes < 3; writes += 1) {
      vi.advanceTimersByTime(2000)
      disk.writeSync(0, Buffer.alloc(1))
    }
    expect(pressure).toEqual([true])
    // Altogether no longer than for a thread that is at work all the time.
    vi.advanceTimersByTime(3000)
    expect(pressure).toEqual([true, false])
  })

  it('they go on without the tape after 1 s without progress, and nothing piles up', () => {
    flood(17 * megabyte)
    vi.advanceTimersByTime(1200)
    expect(pressure).toEqual([true, false])
    const posted = worker.posted.length
    flood(200 * megabyte)
    expect(worker.posted).toHaveLength(posted)
    expect(worker.unansweredBytes).toBeLessThanOrEqual(17 * megabyte)
    expect(pressure).toEqual([true, false])
    expect(vi.getTimerCount()).toBe(0)
  })

  it('the thread hears what each channel lost, before anything else, when it answers again', () => {
    flood(17 * megabyte)
    vi.advanceTimersByTime(1200)
    recorder.bytes('in', Buffer.from('one\ntwo\nthr'))
    recorder.bytes('in', Buffer.from('ee\n'))
    recorder.bytes('out', Buffer.from('a\nb'))
    recorder.bytes('err', Buffer.from('no end'))
    const before = worker.posted.length
    worker.answer()
    recorder.bytes('in', Buffer.from('four\n'))
    vi.advanceTimersByTime(40)
    expect(worker.posted.slice(before)).toMatchObject([
      { kind: 'lost', channel: 'in', bytes: 14, lines: 3, atLineStart: true },
      { kind: 'lost', channel: 'out', bytes: 3, lines: 1, atLineStart: false },
      { kind: 'lost', channel: 'err', bytes: 6, lines: 0, atLineStart: false },
      { kind: 'chunks' },
    ])
    expect(textOf(batchOf(worker.posted.at(-1)).regions.in)).toBe('four\n')
  })

  it('a second time is like the first', () => {
    for (let round = 1; round <= 3; round += 1) {
      flood(17 * megabyte)
      vi.advanceTimersByTime(1200)
      flood(megabyte, 'in')
      worker.answer()
      expect(worker.kinds().filter((kind) => kind === 'lost')).toHaveLength(round)
    }
    expect(pressure).toEqual([true, false, true, false, true, false])
  })

  it('many small chunks do not pile up either while the senders are asked to wait', () => {
    for (let i = 0; i < 400_000; i += 1)
      recorder.bytes('in', Buffer.from('{"jsonrpc":"2.0","method":"n","params":{}}\n'))
    expect(pressure).toEqual([true])
    vi.advanceTimersByTime(1200)
    expect(pressure).toEqual([true, false])
  })
})

describe('a batch that was collected for 40 ms', () => {
  const collect = (bytes: number): void => {
    flood(65_536)
    worker.answer()
    recorder.bytes('out', Buffer.alloc(bytes, '{}\n'))
    vi.advanceTimersByTime(40)
  }

  it('pauses traffic until it is recorded', () => {
    collect(20_000)
    expect(pressure).toEqual([true])
    worker.answer()
    expect(pressure).toEqual([true, false])
    vi.advanceTimersByTime(1_000)
    expect(pressure).toEqual([true, false])
  })

  it('pauses traffic for 5 ms at most, also if the disk makes no progress', () => {
    collect(20_000)
    recorder.bytes('in', Buffer.from('meanwhile\n'))
    vi.advanceTimersByTime(5)
    expect(pressure).toEqual([true, false])
  })

  it('does not pause traffic if it is small', () => {
    collect(1_000)
    expect(worker.kinds().at(-1)).toBe('chunks')
    expect(pressure).toEqual([])
  })

  it('does not pause traffic after one that took long, as on a slow disk', () => {
    collect(20_000)
    vi.advanceTimersByTime(20)
    worker.answer()
    expect(pressure).toEqual([true, false])
    recorder.bytes('out', Buffer.alloc(20_000, '{}\n'))
    vi.advanceTimersByTime(40)
    expect(worker.unansweredBytes).toBe(20_000)
    expect(pressure).toEqual([true, false])
  })

  it('keeps traffic waiting if the thread dies meanwhile, until another one has begun', () => {
    collect(20_000)
    const dead = worker
    dead.emit('error', new Error('boom'))
    expect(worker).not.toBe(dead)
    vi.advanceTimersByTime(500)
    expect(pressure).toEqual([true])
    worker.emit('message', { kind: 'ready' } satisfies RecorderReply)
    worker.answer()
    expect(pressure).toEqual([true, false])
  })
})

describe('being ready', () => {
  const start = (): Recorder =>
    createRecorder({ startedNs: process.hrtime.bigint() } as RecorderInit, {
      onPressure: () => undefined,
      startWorker: () => (worker = new FakeWorker()) as unknown as RecorderWorker,
    })

  it.each([
    ['says so', () => worker.emit('message', { kind: 'ready' } satisfies RecorderReply)],
    [
      'and the one in its place die',
      () => {
        worker.emit('error', new Error('boom'))
        worker.emit('error', new Error('boom'))
      },
    ],
    ['needs more than ten seconds', () => vi.advanceTimersByTime(10_000)],
  ])('is told when the thread %s', async (_, happen) => {
    let isReady = false
    const { ready } = start()
    void ready.then(() => (isReady = true))
    vi.advanceTimersByTime(9_000)
    await Promise.resolve()
    expect(isReady).toBe(false)
    happen()
    await ready
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('closing', () => {
  it('hands over what is left and gives back the report', async () => {
    recorder.bytes('out', Buffer.from('last\n'))
    const closing = recorder.close({ exitCode: 3 })
    expect(worker.posted).toMatchObject([{ kind: 'chunks' }, { kind: 'close', end: { exitCode: 3 } }])
    worker.answer()
    expect(await closing).toBe(report)
    expect(vi.getTimerCount()).toBe(0)
  })

  it('tells what was lost first', async () => {
    flood(17 * megabyte)
    vi.advanceTimersByTime(1200)
    recorder.bytes('in', Buffer.from('lost\n'))
    const closing = recorder.close({ exitCode: 0 })
    expect(worker.kinds().slice(-2)).toEqual(['lost', 'close'])
    worker.answer()
    expect(await closing).toBe(report)
  })

  it('waits while there is progress, but not for ever', async () => {
    flood(4 * megabyte)
    const closing = recorder.close({ exitCode: 0 })
    for (let i = 0; i < 4; i += 1) {
      vi.advanceTimersByTime(1500)
      worker.answer(1)
    }
    expect(worker.terminated).toBe(false)
    vi.advanceTimersByTime(10_500)
    expect(worker.terminated).toBe(true)
    expect(await closing).toMatchObject({
      paths: ['tape.jsonl'],
      trouble: 'writing the tape makes no progress',
    })
    expect(vi.getTimerCount()).toBe(0)
  })
})

describe('a recording thread that dies', () => {
  const zero = { segment: 2, messages: 9, gaps: 1, lost: 3, shift: { in: 0, out: 0 } }

  it('is replaced: what it was at work on is told as lost, what it had not begun with goes to the next', async () => {
    recorder.bytes('in', Buffer.from('1\n'))
    recorder.bytes('out', Buffer.from('half of a'))
    vi.advanceTimersByTime(40)
    worker.answer()
    tellProgress(worker.given!.state!, { ...zero, next: 7, recorded: { in: 2, out: 0, err: 0 } })
    recorder.bytes('out', Buffer.from(' line\n2\n3'))
    recorder.bytes('err', Buffer.from('oh\n'))
    vi.advanceTimersByTime(40)
    recorder.bytes('out', Buffer.from('3\n4\n'))
    vi.advanceTimersByTime(40)
    const asked = recorder.openRequests()
    const first = worker
    first.emit('error', new Error('boom'))
    first.emit('exit', 1)
    expect(pressure).toEqual([true])
    expect(worker.given?.resume).toEqual({
      ...zero,
      next: 7,
      recorded: { in: 2, out: 0, err: 0 },
      redacted: [],
      sessions: [],
    })
    expect(worker.kinds()).toEqual(['died', 'chunks', 'open-requests'])
    expect(worker.posted[0]).toMatchObject({
      why: 'the recording thread failed: boom; a new thread replaced it',
      losses: [
        { channel: 'out', bytes: 18, lines: 2, atLineStart: false },
        { channel: 'err', bytes: 3, lines: 1, atLineStart: true },
      ],
      messages: 0,
      bytes: 0,
    })
    expect(textOf(batchOf(worker.posted[1]).regions.out)).toBe('3\n4\n')
    expect(troubles).toEqual([
      'the recording thread failed: boom; a new thread replaced it: 3 messages and 1 line of stderr (21 bytes) ' +
        'are not on the tape, which continues in a new segment',
    ])
    worker.emit('message', { kind: 'ready' } satisfies RecorderReply)
    worker.emit('message', { kind: 'done' } satisfies RecorderReply)
    worker.emit('message', { kind: 'done', free: true } satisfies RecorderReply)
    expect(pressure).toEqual([true, false])
    worker.emit('message', { kind: 'done', open: [] } satisfies RecorderReply)
    expect(await asked).toEqual([])
    expect(vi.getTimerCount()).toBe(0)
  })

  it.each([
    ['with an error', 'the recording thread failed: boom', () => worker.emit('error', new Error('boom'))],
    ['without a word', 'the recording thread ended', () => worker.emit('exit', 1)],
  ])('%s, as the next one does at once, harms nobody, and the end says so', async (_, why, die) => {
    flood(17 * megabyte)
    expect(pressure).toEqual([true])
    die()
    expect(pressure).toEqual([true])
    die()
    die()
    expect(pressure).toEqual([true, false])
    expect(troubles.at(-1)).toBe(`${why}: recording stops here`)
    const posted = worker.posted.length
    flood(50 * megabyte)
    recorder.ended('out')
    recorder.undelivered('out', 0, 'EPIPE')
    expect(worker.posted).toHaveLength(posted)
    expect(pressure).toEqual([true, false])
    expect(await recorder.close({ exitCode: 0 })).toMatchObject({ trouble: why })
    expect(vi.getTimerCount()).toBe(0)
  })

  it('while it closes the tape is replaced once', async () => {
    const closing = recorder.close({ exitCode: 0 })
    worker.emit('error', new Error('boom'))
    expect(worker.kinds()).toEqual(['died', 'close'])
    worker.emit('message', { kind: 'ready' } satisfies RecorderReply)
    worker.answer(1)
    worker.emit('error', new Error('boom'))
    expect(await closing).toMatchObject({ trouble: 'the recording thread failed: boom' })
    expect(vi.getTimerCount()).toBe(0)
  })

  it('is replaced when one message keeps it busy to the end', async () => {
    flood(65_536)
    vi.advanceTimersByTime(40)
    const first = worker
    tellWork(first.given!.state!, true)
    const closing = recorder.close({ exitCode: 0 })
    vi.advanceTimersByTime(10_500)
    expect(first.terminated).toBe(true)
    expect(worker.kinds()).toEqual(['died', 'close'])
    worker.emit('message', { kind: 'ready' } satisfies RecorderReply)
    worker.answer()
    expect(await closing).toBe(report)
  })

  it('is no news after the tape is closed', async () => {
    const closing = recorder.close({ exitCode: 0 })
    worker.answer()
    worker.emit('exit', 0)
    expect(await closing).toBe(report)
    expect(troubles).toEqual([])
  })
})
