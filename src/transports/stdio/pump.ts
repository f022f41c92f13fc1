import type { Readable, Writable } from 'node:stream'

const LF = 0x0a

/** Sees every chunk after it was passed on. */
export interface PumpObserver {
  /**
   * @param atMs when it came, before it was passed on: `performance.now()`. Its reader may be awake and done
   *   with it before we are back from the write.
   * @param wallMs the same moment in milliseconds since the epoch
   */
  chunk(bytes: Buffer, atMs: number, wallMs: number): void
  /** The source ended; nothing more comes. */
  ended(): void
  /** The destination took only `deliveredBytes` and will take no more. */
  broken(deliveredBytes: number, why: string): void
}

/** Stands in the way of the bytes and decides which are written on, and when. */
export interface Valve {
  push(chunk: Buffer, wallMs: number): void
  /** The source ended. */
  sourceEnded(): void
  /** Something is kept that may go on: the end of the source is not passed on before. */
  readonly isHolding: boolean
  /** No more can be kept: the source is not read. */
  readonly isFull: boolean
}

/** What a valve has to do with the pump. */
export interface ValvePort {
  /** Bytes that came before the valve was put in. */
  readonly receivedBytes: number
  /** The last of them ended a line. */
  readonly atLineStart: boolean
  /** Hands bytes to the destination; gives back how many that has got in all. */
  write(bytes: Uint8Array): number
  /** `isHolding` or `isFull` may have changed. */
  changed(): void
}

/** Carries bytes from one stream to another. Owns neither of them. */
export interface Pump {
  /** Puts a valve in, or takes it out; it has passed on what it kept then. */
  setValve(make: ((port: ValvePort) => Valve) | undefined): void
  /** Stops reading from the source, for a reason besides a slow destination, or goes on. */
  hold(wait: boolean): void
  /** Stops for good. What the destination has not taken by now counts as not delivered. */
  stop(why: string): void
  /** True while the destination is too slow to take what was read, or a valve keeps it. */
  readonly blocked: boolean
  /** True when the destination did not take everything. */
  readonly broken: boolean
  /** Called for every chunk and change: the pump shows life. */
  onActivity: (() => void) | undefined
  /** Resolves when the source ended, or the destination broke, and everything read was handed over. */
  readonly done: Promise<void>
}

/**
 * Each chunk is written on before anybody looks at it, unless somebody put a valve in. A slow destination stops the reading, so that the
 * writer at the far end is slowed as it would be without us.
 *
 * @param options.readsOn a destination that fails for a reason of its own (a full disk), not because its reader
 *   left, does not end the pump: the source is read and observed to its end
 */
export function createPump(
  source: Readable,
  destination: Writable,
  observer: PumpObserver,
  options: { readonly readsOn?: boolean } = {},
): Pump {
  let blocked = false
  let held = false
  let finished = false
  let broken = false
  let settled = false
  /** Why the destination takes nothing more, while the source is read on. */
  let refused: string | undefined
  let deliveredBytes = 0
  let receivedBytes = 0
  let sentBytes = 0
  let atLineStart = true
  let valve: Valve | undefined
  /** The source ended, and a valve still keeps something. */
  let endWaits = false
  /** Sizes of the chunks that the destination has not taken yet. */
  const writing: number[] = []
  let resolveDone: () => void
  const done = new Promise<void>((resolve) => (resolveDone = resolve))

  const pump: Pump = {
    setValve(make) {
      valve = make?.({ receivedBytes, atLineStart, write, changed: onValveChanged })
      onValveChanged()
    },
    hold(wait) {
      held = wait
      steer()
    },
    stop(why) {
      if (settled) return
      valve = undefined
      if (destination.writableLength > 0) breakOff(why)
      else if (endWaits) passEnd()
      else end()
    },
    get blocked() {
      return blocked || (!settled && valve?.isHolding === true)
    },
    get broken() {
      return broken
    },
    onActivity: undefined,
    done,
  }

  function steer(): void {
    if (finished) return
    if (blocked || held || valve?.isFull) source.pause()
    else source.resume()
  }

  function onData(chunk: Buffer): void {
    const atMs = performance.now()
    const wallMs = Date.now()
    if (refused !== undefined) return observer.chunk(chunk, atMs, wallMs)
    if (valve) valve.push(chunk, wallMs)
    else write(chunk)
    receivedBytes += chunk.length
    atLineStart = chunk[chunk.length - 1] === LF
    observer.chunk(chunk, atMs, wallMs)
    pump.onActivity?.()
  }

  function write(bytes: Uint8Array): number {
    writing.push(bytes.length)
    sentBytes += bytes.length
    if (!destination.write(bytes, onWritten)) {
      blocked = true
      steer()
    }
    return sentBytes
  }

  function onValveChanged(): void {
    pump.onActivity?.()
    if (endWaits && valve?.isHolding !== true) passEnd()
    else steer()
  }

  /** Writes end in the order in which they began. One function for all of them is what streams are fast with. */
  function onWritten(error?: Error | null): void {
    const sizeBytes = writing.shift() ?? 0
    if (!error) deliveredBytes += sizeBytes
  }

  function onDrain(): void {
    blocked = false
    steer()
    pump.onActivity?.()
  }

  /** The destination still has to take what was written before the end counts as reached. */
  function end(): void {
    if (finished) return
    finished = true
    source.off('data', onData)
    source.pause()
    valve?.sourceEnded()
    observer.ended()
    if (refused !== undefined) {
      observer.broken(deliveredBytes, refused)
      return settle()
    }
    if (valve?.isHolding) endWaits = true
    else passEnd()
  }

  function passEnd(): void {
    endWaits = false
    if (destination.destroyed || destination.writableLength === 0) return settle()
    destination.write('', (error?: NodeJS.ErrnoException | null) => {
      if (error) breakOff(error.code ?? 'closed')
      else settle()
    })
  }

  function breakOff(why: string): void {
    if (settled) return
    endWaits = false
    const first = !finished
    finished = true
    broken = true
    source.off('data', onData)
    source.pause()
    if (first) observer.ended()
    observer.broken(deliveredBytes, why)
    settle()
  }

  function settle(): void {
    if (settled) return
    settled = true
    destination.off('drain', onDrain)
    destination.off('close', onClose)
    blocked = false
    pump.onActivity?.()
    resolveDone()
  }
  const onClose = (): void => {
    if (refused === undefined) breakOff('closed')
  }

  function onError(error: NodeJS.ErrnoException): void {
    const why = error.code ?? 'closed'
    if (!options.readsOn || finished || why === 'EPIPE' || why === 'ECONNRESET') return breakOff(why)
    refused ??= why
    blocked = false
    steer()
  }

  source.on('data', onData)
  source.once('end', end)
  source.once('close', end)
  // A read error (EIO of a vanished terminal, ECONNRESET) is the end of what can be read.
  source.on('error', end)
  destination.on('drain', onDrain)
  destination.once('close', onClose)
  // Stays: an error that nobody listens to would end us.
  destination.on('error', onError)
  return pump
}
