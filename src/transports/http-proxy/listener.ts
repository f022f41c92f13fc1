import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { WiretapeError } from '../../model/index.js'
import { failureWords } from './failure-words.js'
import { maxHeaderBytes } from './upstream-request.js'

/** An HTTP server without timeouts: clients may be slow or silent. */
export function createListener(): http.Server {
  const server = http.createServer({
    noDelay: true,
    requestTimeout: 0,
    headersTimeout: 0,
    keepAliveTimeout: 0,
    maxHeaderSize: maxHeaderBytes,
  })
  server.timeout = 0
  // No headers are dropped, however many there are.
  server.maxHeadersCount = 0
  return server
}

/**
 * Resolves with the port.
 *
 * @param host the user's name for `address`
 */
export function listenOn(server: http.Server, address: string, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = words[error.code ?? ''] ?? failureWords(error)
      reject(new WiretapeError('usage', `Cannot listen on ${host}, port ${port}: ${why}.`, { cause: error }))
    })
    server.listen({ host: address, port }, () => {
      server.removeAllListeners('error')
      // Errors of a connection that could not be accepted. The next one may succeed.
      server.on('error', () => undefined)
      resolve((server.address() as AddressInfo).port)
    })
  })
}

const words: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is in use',
  EACCES: 'that port needs more privileges',
  EADDRNOTAVAIL: 'this machine does not have that address',
}
