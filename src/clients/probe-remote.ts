import type { Launch } from './entry.js'

const probeTimeoutMs = 5_000

/**
 * Sends a request to a remote server before its entry is changed, to test whether a bridge can reach it with the
 * existing headers. An OAuth server does its login with the client, which a bridge hides.
 *
 * @returns why a bridge cannot record it; undefined if it answers
 */
export async function probeRemote(
  { url, headers }: Extract<Launch, { kind: 'remote' }>,
  env: Readonly<Record<string, string | undefined>>,
): Promise<string | undefined> {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'wiretape', version: '0' },
  }
  const sent = headers.map(([name, value]) => [name, expand(value, env)] as const)
  // Only the client knows the value of `${input:token}`.
  const isGuess = sent.some(([, value]) => /\$?\{[^{}]*\}/.test(value))
  const timer = new AbortController()
  const timeout = setTimeout(() => timer.abort(), probeTimeoutMs)
  try {
    const response = await fetch(url, {
      method: 'POST',
      redirect: 'follow',
      signal: timer.signal,
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...Object.fromEntries(sent),
      },
      body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }),
    })
    await response.body?.cancel()
    if (isGuess || (response.status !== 401 && response.status !== 403)) return undefined
    return `it responds with ${response.status} (login required): record the client with wiretape record --forward -- CLIENT`
  } catch (error) {
    if (timer.signal.aborted) return `it did not respond within ${probeTimeoutMs / 1000} s`
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
    return `it cannot be reached: ${cause instanceof Error ? cause.message : String(cause)}`
  } finally {
    clearTimeout(timeout)
  }
}

/** Variable syntaxes of clients: `${NAME}`, `${env:NAME}`, `{env:NAME}`, `$NAME`, `${NAME:-default}`. */
export function expand(value: string, env: Readonly<Record<string, string | undefined>>): string {
  return value.replaceAll(
    /\$\{(?:env:)?(\w+)(?::-([^}]*))?\}|\{env:(\w+)\}|\$(\w+)/g,
    (all, a?: string, otherwise?: string, b?: string, c?: string) =>
      env[a ?? b ?? c ?? ''] ?? otherwise ?? all,
  )
}
