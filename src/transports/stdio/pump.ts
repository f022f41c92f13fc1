import type { Readable, Writable } from 'node:stream'

/** Sees every chunk after it was passed on. */
export interface PumpObserver {
  chunk(bytes: Buffer): void
  /** The source ended; nothing more comes. */
  ended(): void
  /** The destination took only `deliveredBytes` and will take no more. */
  broken(deliveredBytes: number, why: string): void
}

/** Carries bytes from one stream to another. Owns neither of them. */
export interface Pump {
  /** Stops reading from the source, for a reason besides a slow destination, or goes on. */
  hold(wait: boolean): void
  /** Stops for good, as if the source had ended; what was read is still passed on. */
  stop(): void
  /** True while the destination is too slow to take what was read. */
  readonly blocked: boolean
  /** Called for every chunk and change: the pump shows life. */
  onActivity: (() => void) | undefined
  /** Resolves when the source ended, or the destination broke, and everything read was handed over. */
  readonly done: Promise<void>
}

/**
 * Each chunk is written on before anybody looks at it. A slow destination stops the reading, so that the
 * writer at the far end is slowed as it would be without us.
 */
export function createPump(source: Readable, destination: Writable, observer: PumpObserver): Pump {
  let blocked = false
  let held = false
  let finished = false
  let deliveredBytes = 0
  let resolveDone: () => void
  const done = new Promise<void>((resolve) => (resolveDone = resolve))

  const pump: Pump = {
    hold(wait) {
      held = wait
      steer()
    },
    stop: end,
    get blocked() {
      return blocked
    },
    onActivity: undefined,
    done,
  }

  function steer(): void {
    if (finished) return
    if (blocked || held) source.pause()
    else source.resume()
  }

  function onData(chunk: Buffer): void {
    const more = destination.write(chunk, (error) => {
      if (!error) deliveredBytes += chunk.length
    })
    observer.chunk(chunk)
    if (!more) {
      blocked = true
      steer()
    }
    pump.onActivity?.()
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
    observer.ended()
    if (destination.destroyed || destination.writableLength === 0) return settle()
    destination.write('', () => settle())
  }

  function breakOff(error?: Error & { code?: string }): void {
    const first = !finished
    finished = true
    source.off('data', onData)
    source.pause()
    if (first) observer.ended()
    observer.broken(deliveredBytes, error?.code ?? 'closed')
    settle()
  }

  let settled = false
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
    if (!settled) breakOff()
  }

  source.on('data', onData)
  source.once('end', end)
  source.once('close', end)
  // A read error (EIO of a vanished terminal, ECONNRESET) is the end of what can be read.
  source.on('error', end)
  destination.on('drain', onDrain)
  destination.once('close', onClose)
  destination.on('error', (error) => {
    if (!settled) breakOff(error)
  })
  return pump
}
