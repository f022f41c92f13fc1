import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { WiretapeError } from '../model/index.js'
import { createIntColumn, createNumberColumn } from './columns.js'

/** Characters of texts that stay in memory; what comes after them goes to a file. */
const keptInMemory = 24 * 1024 * 1024
/** Bytes collected for one write. */
const batchBytes = 1 << 20

/** Texts that need not fit into memory, by number. */
export interface TextStore {
  /** Returns the number of the text: 0, 1, 2, … */
  add(text: string): number
  /** Exactly the text that was added. */
  read(number: number): string
  /** Can be called twice. */
  close(): void
}

/**
 * The first texts are held, the others lie in a private file in the temporary folder that has no name any more:
 * it is gone when we are, however we end.
 *
 * @throws WiretapeError `unwritable` from `add`, when there is no place for the file
 */
export function createTextStore(inMemory = keptInMemory): TextStore {
  const held: string[] = []
  const offsets = createNumberColumn()
  const sizes = createIntColumn(0)
  let heldChars = 0
  let file: SpillFile | undefined
  return {
    add(text) {
      const number = held.length + sizes.length
      if (!file && heldChars + text.length <= inMemory) {
        held.push(text)
        heldChars += text.length
        return number
      }
      file ??= openSpillFile()
      const bytes = Buffer.from(text)
      offsets.push(file.append(bytes))
      sizes.push(bytes.length)
      return number
    },
    read(number) {
      const text = held[number]
      if (text !== undefined) return text
      const at = number - held.length
      if (!file || at < 0 || at >= sizes.length) throw new RangeError(`no text ${number}`)
      return file.read(offsets.get(at), sizes.get(at)).toString()
    },
    close() {
      file?.close()
      file = undefined
    },
  }
}

interface SpillFile {
  /** Returns where the bytes begin. */
  append(bytes: Buffer): number
  read(offset: number, sizeBytes: number): Buffer
  close(): void
}

function openSpillFile(): SpillFile {
  const folder = os.tmpdir()
  let fd: number
  let own: string
  try {
    own = fs.mkdtempSync(join(folder, 'wiretape-'))
    fd = fs.openSync(join(own, 'texts'), 'wx+', 0o600)
  } catch (cause) {
    throw noSpace(folder, cause)
  }
  // Where an open file cannot be removed (Windows), that is done at the end.
  const remove = (): void => fs.rmSync(own, { recursive: true, force: true })
  try {
    remove()
  } catch {
    // As said.
  }
  let batch: Buffer[] = []
  let batched = 0
  let written = 0
  function flush(): void {
    if (batched === 0) return
    try {
      const bytes = Buffer.concat(batch)
      for (let done = 0; done < bytes.length;)
        done += fs.writeSync(fd, bytes, done, bytes.length - done, written + done)
    } catch (cause) {
      throw noSpace(folder, cause)
    }
    written += batched
    batch = []
    batched = 0
  }
  return {
    append(bytes) {
      const offset = written + batched
      batch.push(bytes)
      batched += bytes.length
      if (batched >= batchBytes) flush()
      return offset
    },
    read(offset, sizeBytes) {
      flush()
      const bytes = Buffer.allocUnsafe(sizeBytes)
      for (let done = 0; done < sizeBytes;) {
        const count = fs.readSync(fd, bytes, done, sizeBytes - done, offset + done)
        if (count === 0)
          throw new WiretapeError('unreadable', `the copy of the recording in ${folder} was cut`)
        done += count
      }
      return bytes
    },
    close() {
      fs.closeSync(fd)
      try {
        remove()
      } catch {
        // Nothing of ours depends on it.
      }
    },
  }
}

function noSpace(folder: string, cause: unknown): WiretapeError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new WiretapeError('unwritable', `cannot keep a copy of the recording in ${folder}: ${why}`, {
    hint: 'TMPDIR can name another folder',
    cause,
  })
}
