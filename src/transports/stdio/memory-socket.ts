import net from 'node:net'
import type { Readable } from 'node:stream'

/** Memory for the bytes of one source. Bytes are not overwritten while anyone keeps them. */
export interface ReadMemory {
  /** Room for the next read. */
  room(): Buffer
  /** The first `sizeBytes` of the room have been filled. */
  filled(sizeBytes: number): void
  keep(bytes: Uint8Array): void
  release(bytes: Uint8Array): void
}

type Place = { readonly fd: number } | { readonly handle: object }

/**
 * A socket that reads into given memory. Node would make a new buffer for each read. It has no `data` events, and reads
 * nothing until `resume`.
 */
export class MemorySocket extends net.Socket {
  readonly memory: ReadMemory
  /** Gets the bytes of each read. Others may read them as long as they are kept. */
  onBytes: (bytes: Buffer) => void = () => undefined

  constructor(place: Place, memory: ReadMemory) {
    const options = {
      ...place,
      readable: true,
      writable: false,
      onread: {
        buffer: () => memory.room(),
        callback: (sizeBytes: number, room: Buffer) => {
          memory.filled(sizeBytes)
          this.onBytes(room.subarray(0, sizeBytes))
          return true
        },
      },
    }
    super(options)
    this.memory = memory
    this.pause()
  }

  /**
   * Continues a stream that Node has just made for a child. Call it before anything can have been read. Returns the
   * stream itself where Node's streams have other parts than expected.
   */
  static instead(stream: Readable, memory: ReadMemory): Readable {
    const owner = stream as Readable & { _handle?: object | null }
    const handle = owner._handle
    if (!(stream instanceof net.Socket) || !handle || !('readStop' in handle)) return stream
    owner._handle = null
    return new MemorySocket({ handle }, memory)
  }
}
