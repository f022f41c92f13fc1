import type { Readable, Writable } from 'node:stream'

const LF = 0x0a

/** Sees every chunk after it was forwarded. */
export interface PumpObserver {
  /**
   * @param atMs arrival, before forwarding: `performance.now()`. The reader may have processed the chunk before the
   *   write returns.
   * @param wallMs the same moment in milliseconds since the epoch
   */
  chunk(bytes: Buffer, atMs: number, wallMs: number): void
  /** The source ended. */
  ended(): void
  /** The destination accepted only `deliveredBytes` and will accept no more. */
  broken(deliveredBytes: number, why: string): void
}

/** Decides which bytes are forwarded, and when. */
export interface Valve {
  push(chunk: Buffer, wallMs: number): void
  /** The source ended. */
  sourceEnded(): void
  /** The valve keeps bytes that may still be forwarded. The end of the source waits for them. */
  readonly isHolding: boolean
  /** The valve can keep no more: reading from the source stops. */
  readonly isFull: boolean
}

/** The pump as a valve sees it. */
export interface ValvePort {
  /** Bytes received before the valve was inserted. */
  readonly receivedBytes: number
  /** Whether the last of them ended a line. */
  readonly atLineStart: boolean
  /** Writes bytes to the destination. Returns the total number of bytes written so far. */
  write(bytes: Uint8Array): number
  /** `isHolding` or `isFull` may have changed. */
  changed(): void
}

/** Forwards bytes from one stream to another. Owns neither of them. */
export interface Pump {
  /** Inserts a valve, or removes it. A removed valve has already forwarded the bytes it kept. */
  setValve(make: ((port: ValvePort) => Valve) | undefined): void
  /** Stops reading from the source for a reason other than a slow destination, or resumes. */
  hold(wait: boolean): void
  /** Stops for good. Bytes that the destination has not accepted yet count as undelivered. */
  stop(why: string): void
  /** Whether the destination is too slow, or a valve keeps bytes. */
  readonly blocked: boolean
  /** Whether the destination failed to accept everything. */
  readonly broken: boolean
  /** Called for every chunk and every change, as a sign of activity. */
  onActivity: (() => void) | undefined
  /** Resolves when the source ended or the destination broke, and everything read was handed over. */
  readonly done: Promise<void>
}

/**
 * Each chunk is forwarded before it is observed, unless a valve is inserted. A slow destination stops the reading, so
 * that the sender is slowed down as without us.
 *
 * @param options.readsOn a destination that fails for its own reasons (a full disk), not because its reader left, does
 *   not end the pump: the source is read and observed to its end
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
  /** Why the destination accepts nothing more, while the source is still read. */
  let refused: string | undefined
  let deliveredBytes = 0
  let receivedBytes = 0
  let sentBytes = 0
  let atLineStart = true
  let valve: Valve | undefined
  /** The source ended, but a valve still keeps bytes. */
  let endWaits = false
  /** Sizes of the chunks that the destination has not accepted yet. */
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

  /** Writes end in the order in which they began. Streams are fastest with one shared callback. */
  function onWritten(error?: Error | null): void {
    const sizeBytes = writing.shift() ?? 0
    if (!error) deliveredBytes += sizeBytes
  }

  function onDrain(): void {
    blocked = false
    steer()
    pump.onActivity?.()
  }

  /** The end counts as reached once the destination has accepted everything written. */
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
  // A read error (EIO of a closed terminal, ECONNRESET) counts as the end of the source.
  source.on('error', end)
  destination.on('drain', onDrain)
  destination.once('close', onClose)
  // Never removed: an `error` event without a listener would end our process.
  destination.on('error', onError)
  return pump
}
