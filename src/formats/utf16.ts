import type { Diagnostic } from '../model/index.js'

/** Byte order of UTF-16 text, named as for `TextDecoder`. */
export type Utf16 = 'utf-16le' | 'utf-16be'

/**
 * Tools on Windows write UTF-16 (PowerShell's `>`). Recordings begin with an ASCII character, so the first four
 * bytes show the encoding, with or without a byte order mark.
 */
export function utf16Of([a, b, c, d]: Uint8Array): Utf16 | undefined {
  const isText = (code: number | undefined): boolean => code !== undefined && code >= 0x09 && code < 0x7f
  if (a === 0xff && b === 0xfe) return 'utf-16le'
  if (a === 0xfe && b === 0xff) return 'utf-16be'
  if (isText(a) && b === 0 && isText(c) && d === 0) return 'utf-16le'
  if (a === 0 && isText(b) && c === 0 && isText(d)) return 'utf-16be'
  return undefined
}

/** Reports that an input was UTF-16. */
export const utf16Fault: Diagnostic = {
  severity: 'warning',
  code: 'utf-16',
  message: 'the file is UTF-16: it is read as UTF-8, with invalid code units as U+FFFD',
}

/** Converts the text to UTF-8, without a byte order mark. */
export async function* fromUtf16(
  encoding: Utf16,
  source: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array, void, undefined> {
  const decoder = new TextDecoder(encoding)
  const encoder = new TextEncoder()
  for await (const chunk of source) yield encoder.encode(decoder.decode(chunk, { stream: true }))
  yield encoder.encode(decoder.decode())
}
