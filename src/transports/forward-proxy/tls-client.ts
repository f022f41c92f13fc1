import type { Socket } from 'node:net'
import tls from 'node:tls'

/** A certificate and its key, both PEM. */
export interface ServerCertificate {
  readonly key: string
  readonly certificate: string
}

/** How a client says that it does not believe the certificate. */
const disbelief =
  /ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN|UNSUPPORTED_CERTIFICATE|CERTIFICATE_EXPIRED|ACCESS_DENIED|BAD_CERTIFICATE_HASH_VALUE)$/

export interface TlsClientOptions {
  readonly certificate: ServerCertificate
  readonly onSecure: (inside: tls.TLSSocket) => void
  /** @param disbelieved the client has refused the certificate; anything else is its own affair */
  readonly onFailed: (disbelieved: boolean) => void
}

/** Answers a TLS client in the place of its server. */
export function openTls(socket: Socket, { certificate, onSecure, onFailed }: TlsClientOptions): void {
  // Never listens. A server of its own for each client is what ties the result to the socket.
  const server = tls.createServer({
    key: certificate.key,
    cert: certificate.certificate,
    ALPNProtocols: ['http/1.1'],
  })
  server.once('secureConnection', onSecure)
  server.once('tlsClientError', (error: NodeJS.ErrnoException) => {
    socket.destroy()
    onFailed(disbelief.test(error.code ?? ''))
  })
  // A client that leaves in the middle of the handshake is gone, as for every server of HTTPS.
  socket.allowHalfOpen = false
  server.emit('connection', socket)
}
