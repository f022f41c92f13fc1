// @ts-check
/** The ways from an HTTP client to the server. */
import { join } from 'node:path'
import { openBooks, root } from './books.mjs'
import { createHttpClient } from './http-client.mjs'
import { startListening } from './listening.mjs'

/** @typedef {'direct' | 'bare proxy' | 'wiretape' | 'forward'} HttpLane */
/** @typedef {import('./http-client.mjs').HttpClient} HttpClient */

/** @type {readonly HttpLane[]} */
export const HTTP_LANES = ['direct', 'bare proxy', 'wiretape', 'forward']
const echoServer = join(root, 'bench/servers/echo-http.mjs')
const bareProxy = join(import.meta.dirname, 'bare-http-proxy.mjs')

/**
 * Starts one server and the ways to it. All stay until the end, as proxies of HTTP servers do: compiled code that is
 * as fast as it gets takes thousands of requests.
 *
 * @param {string} cli The built command line.
 */
export async function openHttpLanes(cli) {
  const ledger = openBooks(cli)
  const tape = ledger.tapeFolder()
  const forwardTape = ledger.tapeFolder()
  /** @type {Awaited<ReturnType<typeof startListening>>[]} */
  const started = []
  const start = async (/** @type {string[]} */ ...script) => {
    const process = await startListening(script)
    started.push(process)
    return process
  }
  const close = async () => {
    await Promise.all(started.map((process) => process.kill()))
    ledger.close()
  }

  try {
    const server = await start(echoServer)
    const bare = await start(bareProxy, server.url)
    const record = ['record', '--url', server.url, '--out', tape, '--label', 'bench', '--quiet']
    const wiretape = await start(cli, ...record)
    const options = ['--listen', '127.0.0.1:0', '--out', forwardTape, '--label', 'bench', '--quiet']
    const forward = await start(
      cli,
      'record',
      '--forward',
      '--ca-dir',
      join(forwardTape, '../ca'),
      ...options,
    )
    const proxy = /^export HTTP_PROXY=(\S+)$/.exec(forward.url)?.[1]
    if (proxy === undefined) throw new Error(`no proxy: ${forward.url}`)
    /** @type {Record<HttpLane, HttpClient>} */
    const clients = {
      direct: createHttpClient(server.url),
      'bare proxy': createHttpClient(bare.url),
      wiretape: createHttpClient(wiretape.url),
      forward: createHttpClient(server.url, proxy),
    }
    return {
      clients,
      books: ledger.books,

      /** Ends the recording and enters its tape. */
      finish: async () => {
        const { code, signal } = await wiretape.stop()
        if (code !== 0) ledger.books.problems.push(`wiretape: exit ${signal ?? code}`)
        await ledger.enter('http', tape, clients.wiretape.counts)
        const ended = await forward.stop()
        if (ended.code !== 0) ledger.books.problems.push(`forward: exit ${ended.signal ?? ended.code}`)
        await ledger.enter('forward', forwardTape, clients.forward.counts)
      },

      /** Ends everything, and deletes the tape. */
      close,
    }
  } catch (problem) {
    await close()
    throw problem
  }
}
