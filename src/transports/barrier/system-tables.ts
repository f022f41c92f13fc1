import fs from 'node:fs'
import type { TableName } from './socket-table.js'

/** Access to the system's tables of the owners of sockets. Tests replace it. */
export interface SocketTables {
  /** The current table in pieces of whole lines, each valid until the next one. Empty where there is no table. */
  read(name: TableName): AsyncIterable<Buffer>
  /** The same, but blocking. Listening sockets come first. */
  now(name: TableName): Iterable<Buffer>
}

const pieceBytes = 65_536

/** The tables of this process, on systems that have them and where uids are meaningful. */
export function systemTables(): SocketTables {
  const isUsable = process.platform === 'linux' && !isUnmapped()
  const pathOf = (name: TableName): string => (isUsable ? `/proc/self/net/${name}` : '')
  return { read: (name) => readLines(pathOf(name)), now: (name) => readLinesNow(pathOf(name)) }
}

async function* readLines(path: string): AsyncGenerator<Buffer> {
  const file = await fs.promises.open(path).catch(() => undefined)
  if (!file) return
  try {
    const lines = createLines()
    for (let more = true; more;) {
      const { bytesRead } = await file.read(lines.free(), 0, null)
      more = bytesRead > 0
      yield lines.took(bytesRead)
    }
  } finally {
    await file.close()
  }
}

function* readLinesNow(path: string): Generator<Buffer> {
  let file: number | undefined
  try {
    file = fs.openSync(path, 'r')
    const lines = createLines()
    for (let more = true; more;) {
      const bytesRead = fs.readSync(file, lines.free())
      more = bytesRead > 0
      yield lines.took(bytesRead)
    }
  } catch {
    // The table does not exist, or is not readable.
  } finally {
    if (file !== undefined) fs.closeSync(file)
  }
}

interface Lines {
  /** Memory for the next bytes. */
  free(): Buffer
  /** @returns the whole lines so far, in memory that the next bytes overwrite */
  took(sizeBytes: number): Buffer
}

/** Splits bytes into whole lines. */
function createLines(): Lines {
  const memory = Buffer.allocUnsafe(pieceBytes)
  let [start, end] = [0, 0]
  return {
    free() {
      memory.copy(memory, 0, start, end)
      ;[start, end] = [0, end - start]
      return memory.subarray(end)
    },
    took(sizeBytes) {
      end += sizeBytes
      start = memory.subarray(0, end).lastIndexOf(10) + 1
      return memory.subarray(0, start)
    },
  }
}

/** Whether our uid is the overflow uid, which a user namespace shows for every user outside its map. */
function isUnmapped(): boolean {
  const overflow = Number(readIfThere('/proc/sys/kernel/overflowuid') || '65534')
  return process.geteuid?.() === overflow && !/^ *0 +0 +4294967295$/m.test(readIfThere('/proc/self/uid_map'))
}

function readIfThere(path: string): string {
  try {
    return fs.readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
