import type { Draft } from '../model/index.js'
/** What the lines of one block say. */
export interface SseFields {
  /** As written: `''` means `message` to clients, as does its absence. */
  readonly event?: string
  /** The `data` lines joined with line feeds; absent when there was none, `''` for one that is empty. */
  readonly data?: string
  readonly id?: string
  /** Milliseconds. */
  readonly retry?: number
  /** Comment lines without their colon. */
  readonly comments?: readonly string[]
  /** Lines that the standard ignores: unknown fields, an `id` with U+0000, a `retry` that is no number. */
  readonly ignored?: readonly (readonly [field: string, value: string])[]
  /** How many comments and ignored lines are not listed. */
  readonly unlisted?: number
  /** The block is not valid UTF-8; what is broken became U+FFFD, as for clients. */
  readonly lossy?: true
}

/** The pause where a server gives no `retry`; the standard leaves its length to clients. */
const usualReconnectMs = 1_000
/** A server that asks for no pause would be asked in a busy loop. */
const leastReconnectMs = 10
/** A server that asks for years, or for more than a timer takes, is asked again all the same. */
const longestReconnectMs = 60_000

/** How long a client waits before it opens a broken event stream again. @param retry the server's wish, in ms */
export function reconnectDelayMs(retry = usualReconnectMs): number {
  return Math.min(Math.max(retry, leastReconnectMs), longestReconnectMs)
}

/** Comments and ignored lines of one block that are listed: short lines cost much more than their bytes. */
const mostListed = 1_000
/** Lines of data that are held one by one, for the same reason. */
const mostApart = 10_000
/** One byte order mark stands before a stream; all others are characters. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const strictDecoder = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true })

/** @param bytes the lines of one block, with their ends; the last may have none */
export function readSseBlock(bytes: Uint8Array): SseFields {
  const decoded = decoder.decode(bytes)
  const text = decoded.includes('\r') ? decoded.replaceAll(/\r\n?/g, '\n') : decoded
  const fields: Draft<SseFields> = {}
  const data: string[] = []
  const joined: string[] = []
  const comments: string[] = []
  const ignored: [string, string][] = []
  let unlisted = 0
  for (let start = 0; start < text.length;) {
    const lf = text.indexOf('\n', start)
    const line = text.slice(start, lf < 0 ? text.length : lf)
    start += line.length + 1
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? '' : line.slice(line.startsWith(' ', colon + 1) ? colon + 2 : colon + 1)
    if (colon === 0) {
      if (comments.length + ignored.length < mostListed) comments.push(line.slice(1))
      else unlisted += 1
    } else if (name === 'data') {
      data.push(value)
      if (data.length >= mostApart) joined.push(data.splice(0).join('\n'))
    } else if (name === 'event') fields.event = value
    else if (name === 'id' && !value.includes('\0')) fields.id = value
    else if (name === 'retry' && /^[0-9]+$/.test(value)) {
      fields.retry = Math.min(Number(value), Number.MAX_SAFE_INTEGER)
    } else if (comments.length + ignored.length < mostListed) ignored.push([name, value])
    else unlisted += 1
  }
  if (data.length > 0) joined.push(data.join('\n'))
  if (joined.length > 0) fields.data = joined.join('\n')
  if (comments.length > 0) fields.comments = comments
  if (ignored.length > 0) fields.ignored = ignored
  if (unlisted > 0) fields.unlisted = unlisted
  if (text.includes('\ufffd') && !isUtf8(bytes)) fields.lossy = true
  return fields
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    strictDecoder.decode(bytes)
    return true
  } catch {
    return false
  }
}
