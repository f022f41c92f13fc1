import { basename, dirname, join } from 'node:path'
import { encodeRecord } from '../formats/index.js'
import { WiretapeError, type MetaRecord } from '../model/index.js'
import { codeOf, diskReason, realDisk, type Disk } from './disk.js'
import { SegmentFile } from './segment-file.js'
import { tapeFileName } from './tape-path.js'

/** Names to try when other recorders start in the same millisecond. */
const attempts = 1_000

/**
 * Creates a tape with a new name and writes the meta line to the disk before anything is forwarded: a recorder
 * that cannot record must not let traffic pass unnoticed.
 *
 * @returns the open file, for a Journal or to pass its descriptor to another thread
 * @throws WiretapeError `unwritable`
 */
export function startTape(
  folder: string,
  meta: MetaRecord,
  options: { strict?: boolean; disk?: Disk } = {},
): SegmentFile {
  const disk = options.disk ?? realDisk
  const line = Buffer.from(encodeRecord(meta, { strict: options.strict === true }))
  try {
    const file = createUnique(folder, meta, disk)
    const failed = file.append(line)
    if (!failed) return file
    discard(file, disk)
    throw failed.cause
  } catch (cause) {
    throw new WiretapeError('unwritable', `cannot create a tape in ${folder}: ${diskReason(cause)}`, {
      hint:
        codeOf(cause) === 'EMFILE'
          ? 'Raise the limit of open files with ulimit -n.'
          : 'Choose another folder with --out DIR.',
      cause,
    })
  }
}

/**
 * Creates a second, hidden tape beside a strict one, including the data that the strict form cannot hold.
 *
 * @param tape path of the strict one
 * @throws WiretapeError `unwritable`
 */
export function startFullTape(tape: string, meta: MetaRecord, disk: Disk = realDisk): SegmentFile {
  const path = fullTapePath(tape)
  try {
    const file = SegmentFile.create(path, disk)
    const failed = file.append(Buffer.from(encodeRecord(meta)))
    if (!failed) return file
    discard(file, disk)
    throw failed.cause
  } catch (cause) {
    throw new WiretapeError('unwritable', `cannot create ${path}: ${diskReason(cause)}`, { cause })
  }
}

/** Path of the full tape of a strict one while recording, and after a recorder was killed. */
export function fullTapePath(tape: string): string {
  return join(dirname(tape), `.${basename(tape)}.full`)
}

/** Removes an empty file, if possible. */
function discard(file: SegmentFile, disk: Disk): void {
  try {
    disk.unlinkSync(file.path)
    file.close()
  } catch {
    // The error of the tape itself is more useful.
  }
}

function createUnique(folder: string, meta: MetaRecord, disk: Disk): SegmentFile {
  for (let attempt = 0; ; attempt += 1) {
    try {
      const name = tapeFileName(new Date(meta.startedAt), meta.label, attempt)
      return SegmentFile.create(join(folder, name), disk)
    } catch (error) {
      if (codeOf(error) !== 'EEXIST' || attempt >= attempts) throw error
    }
  }
}
