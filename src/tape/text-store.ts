import fs from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { createIntColumn, createNumberColumn, WiretapeError } from '../model/index.js'

/** Bytes of texts kept in memory; beyond that, all texts are in a file. */
const mostInMemory = 16 * 1024 * 1024
/** Bytes collected per write. */
const batchBytes = 1 << 20

/** Numbered texts that need not fit into memory. */
export interface TextStore {
  /** Returns the number of the text: 0, 1, 2, … */
  add(text: string): number
  /** Exactly the text that was added. */
  read(number: number): string
  /** Can be called twice. */
  close(): void
}

/**
 * Texts are kept as bytes: strings cut out of longer ones would keep those in memory. Texts beyond the limit are in a
 * private, already unlinked file in the temporary folder: it vanishes with the process.
 *
 * @throws WiretapeError `unwritable` from `add`, when the file cannot be created
 */
export function createTextStore(inMemory = mostInMemory): TextStore {
  const offsets = createNumberColumn()
  const sizes = createIntColumn(0)
  let tail = Buffer.allocUnsafe(64 * 1024)
  /** Used bytes of `tail`. Earlier bytes are in the file. */
  let taken = 0
  let file: SpillFile | undefined
  let closed = false

  function reserve(sizeBytes: number): void {
    if (taken + sizeBytes <= tail.length) return
    const limit = file ? batchBytes : inMemory
    if (taken + sizeBytes > limit) spill()
    if (sizeBytes <= tail.length - taken) return
    const grown = Buffer.allocUnsafe(Math.max(taken + sizeBytes, Math.min(tail.length * 2, limit)))
    tail.copy(grown, 0, 0, taken)
    tail = grown
  }

  function spill(): void {
    file ??= openSpillFile()
    file.append(tail.subarray(0, taken))
    taken = 0
    if (tail.length > batchBytes) tail = Buffer.allocUnsafe(batchBytes)
  }

  return {
    add(text) {
      const sizeBytes = Buffer.byteLength(text)
      reserve(sizeBytes)
      const number = sizes.length
      offsets.push((file?.sizeBytes ?? 0) + taken)
      sizes.push(sizeBytes)
      tail.write(text, taken)
      taken += sizeBytes
      return number
    },
    read(number) {
      if (number < 0 || number >= sizes.length) throw new RangeError(`no text ${number}`)
      const sizeBytes = sizes.get(number)
      const inTail = offsets.get(number) - (file?.sizeBytes ?? 0)
      if (inTail >= 0) return tail.toString('utf8', inTail, inTail + sizeBytes)
      return file!.read(offsets.get(number), sizeBytes).toString()
    },
    close() {
      if (closed) return
      closed = true
      file?.close()
    },
  }
}

interface SpillFile {
  readonly sizeBytes: number
  append(bytes: Buffer): void
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
  removeIfPossible(own)
  let written = 0
  return {
    get sizeBytes() {
      return written
    },
    append(bytes) {
      try {
        for (let done = 0; done < bytes.length;)
          done += fs.writeSync(fd, bytes, done, bytes.length - done, written + done)
      } catch (cause) {
        throw noSpace(folder, cause)
      }
      written += bytes.length
    },
    read(offset, sizeBytes) {
      const bytes = Buffer.allocUnsafe(sizeBytes)
      for (let done = 0; done < sizeBytes;) {
        const count = fs.readSync(fd, bytes, done, sizeBytes - done, offset + done)
        if (count === 0)
          throw new WiretapeError('unreadable', `the copy of the recording in ${folder} was truncated`)
        done += count
      }
      return bytes
    },
    close() {
      fs.closeSync(fd)
      removeIfPossible(own)
    },
  }
}

/** Where an open file cannot be removed (Windows), it is removed at the end. */
function removeIfPossible(folder: string): void {
  try {
    fs.rmSync(folder, { recursive: true, force: true })
  } catch {
    // See above.
  }
}

function noSpace(folder: string, cause: unknown): WiretapeError {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new WiretapeError('unwritable', `cannot keep a copy of the recording in ${folder}: ${why}`, {
    hint: 'choose another folder with TMPDIR',
    cause,
  })
}
