import { redactionMarker } from '../redaction/index.js'
import { decodeString, eachScalar, kindAt } from '../wire/index.js'

/** Each string inside a JSON value, with its quotes. */
export function eachString(json: string, take: (text: string) => void): void {
  eachScalar(json, { start: 0, end: json.length }, ({ kind, start, end }) => {
    if (kind === 'string') take(json.slice(start, end))
  })
}

export function isScalar(text: string): boolean {
  const kind = kindAt(text, 0)
  return kind === 'string' || kind === 'number'
}

/** The live text behind the marker in a recorded string; undefined when the rest differs. */
export function partOf(written: string, said: string): string | undefined {
  if (written === `"${redactionMarker}"`) return said
  if (!written.startsWith('"') || !said.startsWith('"')) return undefined
  const [before, after, ...more] = decodeString(written, 0, written.length).split(redactionMarker)
  const live = decodeString(said, 0, said.length)
  if (before === undefined || after === undefined || more.length > 0) return undefined
  if (!live.startsWith(before) || !live.endsWith(after) || live.length < before.length + after.length)
    return undefined
  return JSON.stringify(live.slice(before.length, live.length - after.length))
}

/** A string without quotes and escapes; other values as text. */
export function plain(json: string): string {
  return kindAt(json, 0) === 'string' ? decodeString(json, 0, json.length) : json
}
