import { decodeLine } from '../formats/index.js'
import type { EndRecord } from '../model/index.js'

/**
 * Why the server of a recording never sent a message: it did not start, it ended first, or it refused the client.
 * Undefined if it sent one, and if the beginning of the tape does not tell.
 *
 * @param head beginning of the tape
 */
export function whySilent(
  head: string,
  url: string | null,
  { exitCode, wiretape: closing }: EndRecord,
): string | undefined {
  if (!closing || closing.rotated) return undefined
  const { messages, error, signal } = closing
  if (error !== undefined) return `the server did not start: ${error.replace(/^cannot start ".*": /, '')}`
  if (messages > 1) return undefined
  const lines = head.split('\n').slice(0, -1)
  if (firstSender(lines) !== (messages === 0 ? undefined : 'client')) return undefined
  if (url !== null) return httpFailure(lines)
  if (exitCode === null || exitCode === 0 || signal !== undefined) return undefined
  return `the server exited with ${exitCode} before its first message`
}

function firstSender(lines: readonly string[]): 'client' | 'server' | undefined {
  for (const line of lines) {
    // Cheaper than decoding each line.
    if (!line.includes('"dir"')) continue
    const found = decodeLine(line)
    if (!('record' in found) || found.record.type !== 'message') continue
    return found.record.direction === 'client_to_server' ? 'client' : 'server'
  }
  return undefined
}

/** The last HTTP exchange without a message. */
function httpFailure(lines: readonly string[]): string | undefined {
  const line = lines.findLast((one) => one.startsWith('{"type":"http"'))
  const found = line === undefined ? undefined : decodeLine(line)
  if (!found || !('record' in found) || found.record.type !== 'http') return undefined
  const { status, why } = found.record
  if (status !== undefined) return `the server responded with HTTP ${status}`
  const reason = why?.replace(/^upstream: /, '').replace(/, answered \d+ by wiretape$/, '')
  return reason === undefined ? undefined : `the server did not respond: ${reason}`
}
