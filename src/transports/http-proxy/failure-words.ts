const words: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ENOTFOUND: 'its host name was not found',
  EAI_AGAIN: 'its host name could not be looked up',
  EHOSTUNREACH: 'there is no way to that host',
  ENETUNREACH: 'there is no way to that network',
  ETIMEDOUT: 'nobody answered',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
}

/** A failure of a connection in short words. */
export function failureWords(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const { code, message } = error as NodeJS.ErrnoException
  if (code === 'EPROTO' || code?.startsWith('ERR_SSL_')) return tlsWords(message)
  return (code === undefined ? undefined : words[code]) ?? (message || code || 'unknown').trim()
}

/** OpenSSL's own text names its source files, and ends with a line break. */
function tlsWords(message: string): string {
  const [, , reason = 'its answer makes no sense'] =
    /:SSL routines:([^:]*):([^:\r\n]+)/.exec(message.replaceAll('_', ' ')) ?? []
  return /wrong version number|packet length too long|http request|unknown protocol|record layer failure/i.test(
    reason,
  )
    ? 'it does not speak TLS there'
    : `TLS failed: ${reason}`
}

/** True when what came was no HTTP. */
export function isNotHttp(error: unknown): boolean {
  return error instanceof Error && (error as NodeJS.ErrnoException).code?.startsWith('HPE_') === true
}
