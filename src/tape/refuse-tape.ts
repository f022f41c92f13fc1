import { statSync } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import { WiretapeError } from '../model/index.js'
import { descriptorOf } from './outlet.js'

/** Start of every tape. */
const beginning = /^\uFEFF?\s*\{\s*"v"\s*:\s*1\s*,\s*"type"\s*:\s*"meta"/
const enoughBytes = 256

/**
 * Refuses to replace a tape: another process may be writing it.
 *
 * @throws WiretapeError `unwritable`
 */
export async function refuseTape(path: string): Promise<void> {
  // Opening a pipe would block.
  if (!(await stat(path).catch(() => undefined))?.isFile()) return
  const file = await open(path, 'r').catch(() => undefined)
  if (!file) return
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(enoughBytes), 0, enoughBytes, 0)
    if (!beginning.test(buffer.toString('utf8', 0, bytesRead))) return
  } finally {
    await file.close()
  }
  throw new WiretapeError('unwritable', `cannot write ${path}: it is a tape`)
}

/**
 * Refuses a named pipe: opening one blocks a thread until there is a reader.
 *
 * @throws WiretapeError `unwritable`
 */
export function refusePipe(path: string): void {
  if (isNamedPipe(path))
    throw new WiretapeError('unwritable', `cannot write ${path}: it is a pipe`, { hint: 'name a file' })
}

/** Whether opening a path would wait for another program. Pipes opened by a shell for this process do not. */
export function isNamedPipe(path: string): boolean {
  if (descriptorOf(path) !== undefined) return false
  return statSync(path, { throwIfNoEntry: false })?.isFIFO() === true
}

const standardStreams = ['stdin', 'stdout', 'stderr']

/**
 * While a server is recorded, stdin and stdout belong to the client and stderr to the server.
 *
 * @throws WiretapeError `usage`
 */
export function refuseStandardStream(path: string): void {
  const name = standardStreams[descriptorOf(path) ?? -1]
  if (name === undefined) return
  throw new WiretapeError('usage', `a session file cannot be ${name}`, { hint: 'name a file' })
}
