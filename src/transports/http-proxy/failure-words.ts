const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'the host name was not found',
  EAI_AGAIN: 'the host name could not be resolved',
  EHOSTUNREACH: 'the host is unreachable',
  ENETUNREACH: 'the network is unreachable',
  ETIMEDOUT: 'the connection timed out',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
}

/** A connection failure in a few words. */
export function failureWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'EPROTO' || code?.startsWith('ERR_SSL_')) return tlsWords(message)
  return (code === undefined ? undefined : words[code]) ?? (message || code || 'unknown').trim()
}

/** OpenSSL's messages contain the names of its source files, and end with a line break. */
function tlsWords(message: string): string {
  const [, , reason = 'invalid response'] =
    /:SSL routines:([^:]*):([^:\r\n]+)/.exec(message.replaceAll('_', ' ')) ?? []
  return /wrong version number|packet length too long|http request|unknown protocol|record layer failure/i.test(
    reason,
  )
    ? 'the server does not use TLS on that port'
    : `TLS failed: ${reason}`
}

/** Whether the received bytes were not HTTP. */
export function isNotHttp(error: unknown): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code?.startsWith('HPE_') === true
}
