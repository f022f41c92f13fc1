import { isAscii, isUtf8 } from 'node:buffer'
import type { MessageRecord, Part } from '../model/index.js'
import type { RedactedJson } from '../redaction/index.js'
import { readParts } from '../wire/index.js'

/** The messages of a frame in its redacted text. Ids and links come from the original. */
export function rewritten(
  redacted: RedactedJson,
  parts: readonly Part[],
): Pick<MessageRecord, 'raw' | 'batch' | 'parts'> {
  const { text: raw, batch, parts: places } = readParts(redacted.raw)
  return { raw, batch, parts: places.map((place, i) => ({ ...parts[i]!, ...place })) }
}

/** The text of valid UTF-8, or undefined. Nearly all frames are ASCII, which is copied without decoding. */
export function exactText(bytes: Uint8Array): string | undefined {
  if (isAscii(bytes)) return bufferOf(bytes).toString('latin1')
  return isUtf8(bytes) ? bufferOf(bytes).toString('utf8') : undefined
}

/** Readable text. With `bytes` when the text cannot be turned back into them. */
export function textOf(bytes: Uint8Array): { text: string; bytes?: string } {
  const text = exactText(bytes)
  return text === undefined ? { text: bufferOf(bytes).toString('utf8'), bytes: base64(bytes) } : { text }
}

export function base64(bytes: Uint8Array): string {
  return bufferOf(bytes).toString('base64')
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}
