import type { Socket } from 'node:net'
import tls from 'node:tls'

/** A certificate and its key, both PEM. */
export interface ServerCertificate {
  readonly key: string
  readonly certificate: string
}

/** TLS alerts by which a client rejects a certificate. */
const disbelief =
  /ALERT_(UNKNOWN_CA|BAD_CERTIFICATE|CERTIFICATE_UNKNOWN|UNSUPPORTED_CERTIFICATE|CERTIFICATE_EXPIRED|ACCESS_DENIED|BAD_CERTIFICATE_HASH_VALUE)$/

export interface TlsClientOptions {
  readonly certificate: ServerCertificate
  readonly onSecure: (inside: tls.TLSSocket) => void
  /** @param disbelieved the client rejected the certificate; false for any other failure */
  readonly onFailed: (disbelieved: boolean) => void
}

/** Answers a TLS client in place of its server. */
export function openTls(socket: Socket, { certificate, onSecure, onFailed }: TlsClientOptions): void {
  // This server never listens. Each client needs its own, so that the result belongs to its socket.
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
  // A client that ends during the handshake is closed, as by every HTTPS server.
  socket.allowHalfOpen = false
  server.emit('connection', socket)
}
