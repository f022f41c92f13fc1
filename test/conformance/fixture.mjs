// @ts-check
/** Our server, made with the official SDK, which passes the suite. */
import { resolve } from 'node:path'
import { firstLine, start } from './actors.mjs'

const script = resolve(import.meta.dirname, '../fixtures/servers/conformance/server.mjs')

/**
 * Calls `use` with the URL of a fresh server, and ends the server.
 *
 * @template T
 * @param {(url: string) => Promise<T>} use
 * @returns {Promise<T>}
 */
export async function withServer(use) {
  const server = start(process.execPath, [script])
  try {
    return await use(await firstLine(server))
  } finally {
    server.child.kill('SIGKILL')
    await server.ended
  }
}
