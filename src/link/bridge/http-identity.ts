type Header = [name: string, value: string]

/** What a client tells an HTTP server with every request: what its user gave, and what was agreed on. */
export interface HttpIdentity {
  session: string | undefined
  /** Of the legacy era, where each request of a session says which version was agreed on. */
  version: string | undefined
  headers(): Header[]
  /** With the version. */
  versioned(): Header[]
}

export function createHttpIdentity(given: readonly (readonly [name: string, value: string])[]): HttpIdentity {
  const own: HttpIdentity = {
    session: undefined,
    version: undefined,
    headers: () => [
      ...given.map(([name, value]): Header => [name, value]),
      ...headerOf('Mcp-Session-Id', own.session),
    ],
    versioned: () => [...own.headers(), ...headerOf('MCP-Protocol-Version', own.version)],
  }
  return own
}

function headerOf(name: string, value: string | undefined): Header[] {
  return value === undefined ? [] : [[name, value]]
}
