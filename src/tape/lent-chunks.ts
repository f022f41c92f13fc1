import fs from 'node:fs'

/** Bytes per read. */
const chunkBytes = 1 << 18

/**
 * The bytes of a file in chunks, each valid until the next one is requested: two buffers serve for all of them, and the
 * next chunk is read while one is used. A stream allocates new memory for each chunk, which the system has to find and
 * clear.
 *
 * @param to stop before this offset; at the latest at the end of the file
 */
export async function* lentChunks(
  path: string,
  from: number,
  to: number,
): AsyncGenerator<Uint8Array, void, undefined> {
  if (from >= to) return
  const file = await fs.promises.open(path)
  const size = Math.min(chunkBytes, to - from)
  let [next, spare] = takeBuffers(size)
  let reading: Promise<number> | undefined
  try {
    let at = from
    const readNext = (): Promise<number> => {
      const read = readSome(file.fd, next, Math.min(next.length, to - at), at)
      // A caller that stops early ignores errors of this read.
      read.catch(() => undefined)
      return read
    }
    reading = readNext()
    for (;;) {
      const length = await reading
      if (length === 0) return
      const chunk = next.subarray(0, length)
      at += length
      ;[next, spare] = [spare, next]
      const more = at < to
      if (more) reading = readNext()
      yield chunk
      if (!more) return
    }
  } finally {
    // A descriptor must not be closed during a read: its number may be reused for another file.
    await reading?.catch(() => undefined)
    if (size === chunkBytes) idle = [next, spare]
    await file.close()
  }
}

type Buffers = [next: Uint8Array, spare: Uint8Array]

/** Buffers of the last file, for the next one: many recordings are read one after the other. */
let idle: Buffers | undefined

function takeBuffers(size: number): Buffers {
  const taken = size === chunkBytes ? idle : undefined
  if (taken) idle = undefined
  return taken ?? [new Uint8Array(size), new Uint8Array(size)]
}

function readSome(descriptor: number, into: Uint8Array, length: number, at: number): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.read(descriptor, into, 0, length, at, (error, count) => {
      if (error) reject(error)
      else resolve(count)
    })
  })
}
