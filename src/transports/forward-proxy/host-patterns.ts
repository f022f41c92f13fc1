/** A host, with or without a port: `example.com`, `*.example.com`, `127.0.0.1:8080`, `[::1]:8080`. */
export interface HostPattern {
  readonly host: string
  /** Matches the hosts below `host` instead of `host` itself. */
  readonly below: boolean
  readonly port?: number
}

/** Undefined when the text is not a host. */
export function parseHostPattern(text: string): HostPattern | undefined {
  const match = /^(\*?\.)?(\[[0-9a-f:.]+\]|[^\s:/?#@[\]*]+)(?::(\d{1,5}))?$/i.exec(text)
  if (!match) return undefined
  const host = match[2]!.toLowerCase().replace(/^\[(.*)\]$/, '$1')
  return { host, below: match[1] !== undefined, ...(match[3] !== undefined && { port: Number(match[3]) }) }
}

export function matchesHost(
  { host, below, port }: HostPattern,
  place: { readonly hostname: string; readonly port: number },
): boolean {
  if (port !== undefined && port !== place.port) return false
  const name = place.hostname.toLowerCase()
  return below ? name.endsWith(`.${host}`) : name === host
}
