// @ts-check
/** The lanes from an HTTP client to the server. */
import { join } from 'node:path'
import { openBooks, root } from './books.mjs'
import { beginSession, createHttpClient } from './http-client.mjs'
import { createLinesClient } from './lines-client.mjs'
import { startListening } from './listening.mjs'

/**
 * `bridge` is a client on stdio with the HTTP server, `listen` an HTTP client with the same server on stdio. No bare
 * program carries messages between transports, so both are compared with `direct`, where client and server speak HTTP.
 *
 * @typedef {'direct' | 'bare proxy' | 'wiretape' | 'forward' | 'bridge' | 'listen'} HttpLane
 */
/** @typedef {import('./http-client.mjs').HttpClient} HttpClient */

/** @type {readonly HttpLane[]} */
export const HTTP_LANES = ['direct', 'bare proxy', 'wiretape', 'forward', 'bridge', 'listen']
const echoServer = join(root, 'bench/servers/echo-http.mjs')
const echoLines = join(root, 'bench/servers/echo-lines.mjs')
const bareProxy = join(import.meta.dirname, 'bare-http-proxy.mjs')

/**
 * Starts one server and the lanes to it. All run until the end, as proxies of HTTP servers do: compiled code reaches
 * its full speed only after thousands of requests.
 *
 * @param {string} cli The built command line.
 */
export async function openHttpLanes(cli) {
  const ledger = openBooks(cli)
  const tape = ledger.tapeFolder()
  const forwardTape = ledger.tapeFolder()
  const bridgeTape = ledger.tapeFolder()
  const listenTape = ledger.tapeFolder()
  /** @type {Awaited<ReturnType<typeof startListening>>[]} */
  const started = []
  const start = async (/** @type {string[]} */ ...script) => {
    const process = await startListening(script)
    started.push(process)
    return process
  }
  /** @type {ReturnType<typeof createLinesClient> | undefined} */
  let onStdio
  const close = async () => {
    onStdio?.kill()
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
    const usual = ['--label', 'bench', '--quiet']
    const listen = await start(
      cli,
      'record',
      '--listen',
      '127.0.0.1:0',
      '--out',
      listenTape,
      ...usual,
      '--',
      process.execPath,
      echoLines,
    )
    const session = await beginSession(listen.url)
    const bridge = createLinesClient([
      cli,
      'record',
      '--bridge',
      '--url',
      server.url,
      '--out',
      bridgeTape,
      ...usual,
    ])
    onStdio = bridge
    /** @type {Record<HttpLane, HttpClient>} */
    const clients = {
      direct: createHttpClient(server.url),
      'bare proxy': createHttpClient(bare.url),
      wiretape: createHttpClient(wiretape.url),
      forward: createHttpClient(server.url, { proxy }),
      bridge,
      listen: createHttpClient(listen.url, { session }),
    }
    return {
      clients,
      books: ledger.books,

      /** Ends the recordings and counts the messages on their tapes. */
      finish: async () => {
        // `initialize` and its response.
        const { in: asked, out: answered } = clients.listen.counts
        for (const { name, stop, folder, counts } of [
          { name: 'wiretape', stop: () => wiretape.stop(), folder: tape, counts: clients.wiretape.counts },
          {
            name: 'forward',
            stop: () => forward.stop(),
            folder: forwardTape,
            counts: clients.forward.counts,
          },
          { name: 'bridge', stop: () => bridge.close(), folder: bridgeTape, counts: bridge.counts },
          {
            name: 'listen',
            stop: () => listen.stop(),
            folder: listenTape,
            counts: { in: asked + 1, out: answered + 1 },
          },
        ]) {
          const { code, signal } = await stop()
          if (code !== 0) ledger.books.problems.push(`${name}: exit ${signal ?? code}`)
          await ledger.enter(name, folder, counts)
        }
      },

      /** Ends everything, and deletes the tapes. */
      close,
    }
  } catch (problem) {
    await close()
    throw problem
  }
}
