import type { Readable, Writable } from 'node:stream'
import { MemorySocket, type ReadMemory } from './memory-socket.js'

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
export class Pump {
  readonly #source: Readable
  readonly #destination: Writable
  readonly #observer: PumpObserver
  /** The memory of the chunks, where the source reads into given memory. */
  readonly #memory: ReadMemory | undefined
  readonly #options: { readonly readsOn?: boolean }
  #blocked = false
  #held = false
  #finished = false
  #broken = false
  #settled = false
  /** Why the destination accepts nothing more, while the source is still read. */
  #refused: string | undefined
  #deliveredBytes = 0
  #receivedBytes = 0
  #sentBytes = 0
  #atLineStart = true
  #valve: Valve | undefined
  /** The source ended, but a valve still keeps bytes. */
  #endWaits = false
  /** Chunks that the destination has not accepted yet. */
  readonly #writing: Uint8Array[] = []
  #resolveDone = (): void => undefined
  /** Resolves when the source ended or the destination broke, and everything read was handed over. */
  readonly done = new Promise<void>((resolve) => (this.#resolveDone = resolve))
  /** Called for every chunk and every change, as a sign of activity. */
  onActivity: (() => void) | undefined

  readonly #onData = (chunk: Buffer): void => {
    const atMs = performance.now()
    const wallMs = Date.now()
    if (this.#refused !== undefined) return this.#observer.chunk(chunk, atMs, wallMs)
    // A valve may keep bytes for long.
    if (this.#valve) this.#valve.push(this.#memory ? Buffer.from(chunk) : chunk, wallMs)
    else this.#write(chunk)
    this.#receivedBytes += chunk.length
    this.#atLineStart = chunk[chunk.length - 1] === LF
    this.#observer.chunk(chunk, atMs, wallMs)
    this.onActivity?.()
  }

  readonly #write = (bytes: Uint8Array): number => {
    this.#writing.push(bytes)
    this.#memory?.keep(bytes)
    this.#sentBytes += bytes.length
    // A large chunk fills a stream's buffer even when the pipe takes all of it at once.
    if (!this.#destination.write(bytes, this.#onWritten) && this.#destination.writableLength > 0) {
      this.#blocked = true
      this.#steer()
    }
    return this.#sentBytes
  }

  readonly #onValveChanged = (): void => {
    this.onActivity?.()
    if (this.#endWaits && this.#valve?.isHolding !== true) this.#passEnd()
    else this.#steer()
  }

  /** Writes end in the order in which they began. Streams are fastest with one shared callback. */
  readonly #onWritten = (error?: Error | null): void => {
    const bytes = this.#writing.shift()
    if (!bytes) return
    if (!error) this.#deliveredBytes += bytes.length
    this.#memory?.release(bytes)
  }

  readonly #onDrain = (): void => {
    this.#blocked = false
    this.#steer()
    this.onActivity?.()
  }

  /** The end counts as reached once the destination has accepted everything written. */
  readonly #end = (): void => {
    if (this.#finished) return
    this.#finished = true
    this.#leave()
    this.#valve?.sourceEnded()
    this.#observer.ended()
    if (this.#refused !== undefined) {
      this.#observer.broken(this.#deliveredBytes, this.#refused)
      return this.#settle()
    }
    if (this.#valve?.isHolding) this.#endWaits = true
    else this.#passEnd()
  }

  readonly #onClose = (): void => {
    if (this.#refused === undefined) this.#breakOff('closed')
  }

  readonly #onError = (error: NodeJS.ErrnoException): void => {
    const why = error.code ?? 'closed'
    if (!this.#options.readsOn || this.#finished || why === 'EPIPE' || why === 'ECONNRESET')
      return this.#breakOff(why)
    this.#refused ??= why
    this.#blocked = false
    this.#steer()
  }

  /**
   * Each chunk is forwarded before it is observed, unless a valve is inserted. A slow destination stops the reading, so
   * that the sender is slowed down as without us.
   *
   * @param options.readsOn a destination that fails for its own reasons (a full disk), not because its reader left, does
   *   not end the pump: the source is read and observed to its end
   */
  constructor(
    source: Readable,
    destination: Writable,
    observer: PumpObserver,
    options: { readonly readsOn?: boolean } = {},
  ) {
    this.#source = source
    this.#destination = destination
    this.#observer = observer
    this.#options = options
    if (source instanceof MemorySocket) {
      this.#memory = source.memory
      source.onBytes = this.#onData
      source.resume()
    } else source.on('data', this.#onData)
    source.once('end', this.#end)
    source.once('close', this.#end)
    // A read error (EIO of a closed terminal, ECONNRESET) counts as the end of the source.
    source.on('error', this.#end)
    destination.on('drain', this.#onDrain)
    destination.once('close', this.#onClose)
    // Never removed: an `error` event without a listener would end our process.
    destination.on('error', this.#onError)
  }

  /** Inserts a valve, or removes it. A removed valve has already forwarded the bytes it kept. */
  setValve(make: ((port: ValvePort) => Valve) | undefined): void {
    this.#valve = make?.({
      receivedBytes: this.#receivedBytes,
      atLineStart: this.#atLineStart,
      write: this.#write,
      changed: this.#onValveChanged,
    })
    this.#onValveChanged()
  }

  /** Stops reading from the source for a reason other than a slow destination, or resumes. */
  hold(wait: boolean): void {
    this.#held = wait
    this.#steer()
  }

  /** Stops for good. Bytes that the destination has not accepted yet count as undelivered. */
  stop(why: string): void {
    if (this.#settled) return
    this.#valve = undefined
    if (this.#destination.writableLength > 0) this.#breakOff(why)
    else if (this.#endWaits) this.#passEnd()
    else this.#end()
  }

  /** Whether the destination is too slow, or a valve keeps bytes. */
  get blocked(): boolean {
    return this.#blocked || (!this.#settled && this.#valve?.isHolding === true)
  }

  /** Whether the destination failed to accept everything. */
  get broken(): boolean {
    return this.#broken
  }

  #steer(): void {
    if (this.#finished) return
    if (this.#blocked || this.#held || this.#valve?.isFull) this.#source.pause()
    else this.#source.resume()
  }

  /** Nothing more is taken from the source. */
  #leave(): void {
    if (this.#source instanceof MemorySocket) this.#source.onBytes = () => undefined
    this.#source.off('data', this.#onData)
    this.#source.pause()
  }

  #passEnd(): void {
    this.#endWaits = false
    if (this.#destination.destroyed || this.#destination.writableLength === 0) return this.#settle()
    this.#destination.write('', (error?: NodeJS.ErrnoException | null) => {
      if (error) this.#breakOff(error.code ?? 'closed')
      else this.#settle()
    })
  }

  #breakOff(why: string): void {
    if (this.#settled) return
    this.#endWaits = false
    const first = !this.#finished
    this.#finished = true
    this.#broken = true
    this.#leave()
    if (first) this.#observer.ended()
    this.#observer.broken(this.#deliveredBytes, why)
    this.#settle()
  }

  #settle(): void {
    if (this.#settled) return
    this.#settled = true
    this.#destination.off('drain', this.#onDrain)
    this.#destination.off('close', this.#onClose)
    this.#blocked = false
    this.onActivity?.()
    this.#resolveDone()
  }
}
