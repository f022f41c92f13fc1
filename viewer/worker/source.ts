/** The bytes of a lane: read from the start for the index, and again by position for single messages. */
export interface Source {
  /** Current size; a live recording grows. */
  readonly sizeBytes: number
  slice(offset: number, sizeBytes: number): Promise<Uint8Array>
}

/** Bytes of the first read, small so that rows appear soon, and of later reads. */
const firstRead = 1 << 18
const nextReads = 1 << 22
/** Reads in progress while one is used: a browser takes some milliseconds to start one. */
const readsAhead = 3

export function blobSource(blob: Blob): Source {
  return {
    sizeBytes: blob.size,
    slice: async (offset, sizeBytes) =>
      new Uint8Array(await blob.slice(offset, offset + sizeBytes).arrayBuffer()),
  }
}

/** Chunks from the start to the end that the source has reached by then. */
export async function* chunksOf(source: Source): AsyncGenerator<Uint8Array, void, undefined> {
  const ahead: Promise<Uint8Array>[] = []
  let asked = 0
  const ask = (): void => {
    const size = asked === 0 ? firstRead : nextReads
    const next = source.slice(asked, size)
    // Avoids an unhandled rejection if the read is abandoned.
    next.catch(() => undefined)
    ahead.push(next)
    asked += size
  }
  while (ahead.length > 0 || asked < source.sizeBytes) {
    while (ahead.length <= readsAhead && asked < source.sizeBytes) ask()
    yield await ahead.shift()!
  }
}

/** Bytes as they arrive. They stay readable in blobs, which browsers keep outside of the page's memory. */
export interface GrowingSource extends Source {
  add(chunk: Uint8Array): void
}

const pieceBytes = 1 << 23

export function growingSource(): GrowingSource {
  const pieces: { readonly start: number; readonly blob: Blob }[] = []
  let tail: Uint8Array<ArrayBuffer>[] = []
  /** Made for a read: a browser copies the bytes of each new blob. */
  let tailBlob: Blob | undefined
  let tailStart = 0
  let size = 0

  function close(): void {
    if (tail.length === 0) return
    pieces.push({ start: tailStart, blob: new Blob(tail) })
    tail = []
    tailBlob = undefined
    tailStart = size
  }

  return {
    get sizeBytes() {
      return size
    },
    add(chunk) {
      tail.push(chunk as Uint8Array<ArrayBuffer>)
      tailBlob = undefined
      size += chunk.length
      if (size - tailStart >= pieceBytes) close()
    },
    async slice(offset, sizeBytes) {
      const end = Math.min(offset + sizeBytes, size)
      const parts: Blob[] = []
      for (const { start, blob } of pieces) {
        if (start + blob.size > offset && start < end)
          parts.push(blob.slice(Math.max(0, offset - start), Math.max(0, end - start)))
      }
      if (end > tailStart) {
        tailBlob ??= new Blob(tail)
        parts.push(tailBlob.slice(Math.max(0, offset - tailStart), end - tailStart))
      }
      return new Uint8Array(await new Blob(parts).arrayBuffer())
    },
  }
}
