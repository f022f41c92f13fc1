import type { Draft } from '../model/index.js'
import { mayHaveControls, shortestSearched } from './control-bytes.js'

const LF = 0x0a

/** The fields in the lines of one block. */
export interface SseFields {
  /** As written. Clients treat `''`, like a missing field, as `message`. */
  readonly event?: string
  /** The `data` lines joined with line feeds; absent when there were none, `''` for one empty line. */
  readonly data?: string
  readonly id?: string
  /** Milliseconds. */
  readonly retry?: number
  /** Comment lines without their colon. */
  readonly comments?: readonly string[]
  /** Lines that the standard ignores: unknown fields, an `id` with U+0000, a `retry` that is not a number. */
  readonly ignored?: readonly (readonly [field: string, value: string])[]
  /** Number of comments and ignored lines that are not listed. */
  readonly unlisted?: number
  /** The block is not valid UTF-8. Invalid bytes became U+FFFD, as in clients. */
  readonly lossy?: true
  /** `data` is one line without control characters. Absent if that is not known. */
  readonly plain?: true
}

/** The delay without `retry`, in milliseconds; the standard leaves it to clients. */
const usualReconnectMs = 1_000
/** Prevents a busy loop when a server asks for no delay. */
const leastReconnectMs = 10
/** Limits the delay when a server asks for years, or for more than a timer can hold. */
const longestReconnectMs = 60_000

/** The delay before a client reopens a broken event stream. @param retry the server's value, in ms */
export function reconnectDelayMs(retry = usualReconnectMs): number {
  return Math.min(Math.max(retry, leastReconnectMs), longestReconnectMs)
}

/** Comments and ignored lines listed per block. Short lines take much more memory than their bytes. */
const mostListed = 1_000
/** Data lines that are held one by one, for the same reason. */
const mostApart = 10_000
/** A stream may begin with one byte order mark; all others are characters. */
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const strictDecoder = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true })

/** @param bytes the lines of one block, with their line ends; the last one may have none */
export function readSseBlock(bytes: Uint8Array): SseFields {
  const decoded = decoder.decode(bytes)
  const text = decoded.includes('\r') ? decoded.replaceAll(/\r\n?/g, '\n') : decoded
  const fields: Draft<SseFields> = {}
  const data: string[] = []
  const joined: string[] = []
  const comments: string[] = []
  const ignored: [string, string][] = []
  let unlisted = 0
  let last = ''
  for (let start = 0; start < text.length;) {
    const lf = text.indexOf('\n', start)
    const line = text.slice(start, lf < 0 ? text.length : lf)
    start += line.length + 1
    const colon = line.indexOf(':')
    const name = colon < 0 ? line : line.slice(0, colon)
    last = name
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
  const isLastLine = last === 'data' && data.length === 1 && joined.length === 0
  if (isLastLine && bytes.length >= shortestSearched && !mayHaveControls(lastLine(bytes))) fields.plain = true
  if (data.length > 0) joined.push(data.join('\n'))
  if (joined.length > 0) fields.data = joined.join('\n')
  if (comments.length > 0) fields.comments = comments
  if (ignored.length > 0) fields.ignored = ignored
  if (unlisted > 0) fields.unlisted = unlisted
  if (text.includes('\ufffd') && !isUtf8(bytes)) fields.lossy = true
  return fields
}

/** Without its line end. */
function lastLine(bytes: Uint8Array): Uint8Array {
  let end = bytes.length
  while (end > 0 && bytes[end - 1]! < 0x20) end -= 1
  return bytes.subarray(end === 0 ? 0 : bytes.lastIndexOf(LF, end - 1) + 1, end)
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    strictDecoder.decode(bytes)
    return true
  } catch {
    return false
  }
}
