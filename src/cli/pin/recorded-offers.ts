import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createPinTable } from '../../findings/index.js'
import { WiretapeError } from '../../model/index.js'
import { withServer, type GreetedServer } from '../../replay/index.js'
import { listTapes } from '../../tape/index.js'
import { connectStdio } from '../../link/index.js'
import { createDeadline } from '../../transports/index.js'
import type { Io } from '../io.js'
import { observeRecordings } from '../observe-recordings.js'
import type { Pins } from './lock-file.js'

/** Offers of the servers in recordings. */
export async function offersInFiles(files: readonly string[], io: Io): Promise<Pins> {
  const table = createPinTable()
  await observeRecordings(table.rule, files, io)
  return table.servers
}

/**
 * Lists all offers of a server through a recorder with a temporary tape.
 *
 * @param recorder words after `wiretape record`
 */
export async function offersOfServer(recorder: readonly string[], timeoutMs: number, io: Io): Promise<Pins> {
  const folder = await mkdtemp(join(tmpdir(), 'wiretape-pin-'))
  const deadline = createDeadline({})
  try {
    const own = [process.execPath, process.argv[1]!, 'record', '--out', folder, ...recorder]
    const outcome = await withServer(
      (events) => connectStdio(own, { ...events, stderr: (bytes) => void process.stderr.write(bytes) }),
      { timeoutMs, signal: deadline.signal },
      listEverything,
    )
    if (outcome)
      throw new WiretapeError(
        'unreadable',
        `the lists of the server could not be read to the end: ${outcome.error}`,
      )
    return await offersInFiles(
      (await listTapes(folder)).map(({ path }) => path),
      io,
    )
  } finally {
    deadline.close()
    await rm(folder, { recursive: true, force: true })
  }
}

const mostPages = 1_000

/** An unknown method means that the server has none of these. */
async function listEverything(server: GreetedServer): Promise<{ readonly error: string } | undefined> {
  if (server.isModern) {
    const found = await server.ask({ method: 'server/discover', params: '{}' })
    if ('error' in found) return found
  }
  for (const method of ['tools/list', 'prompts/list', 'resources/list', 'resources/templates/list']) {
    let cursor: unknown
    for (let page = 0; page < mostPages; page += 1) {
      const params = typeof cursor === 'string' ? JSON.stringify({ cursor }) : '{}'
      const found = await server.ask({ method, params })
      if ('error' in found) return { error: `${method}: ${found.error}` }
      const { result } = JSON.parse(found.answer) as { result?: { nextCursor?: unknown } }
      cursor = result?.nextCursor
      if (typeof cursor !== 'string') break
    }
  }
  return undefined
}
