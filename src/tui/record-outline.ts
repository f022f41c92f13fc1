import type { Envelope, HttpHeaders, Part, TapeRecord } from '../model/index.js'

/** Size of a record without its texts, in characters. */
const bareLength = 500
/** Characters of a text that a list shows. */
const shownLength = 500

/** Size of a record in memory, in characters. */
export function lengthOf(record: TapeRecord): number {
  switch (record.type) {
    case 'message':
    case 'held': {
      const { raw, bytes, http } = record
      const original = 'original' in record ? record.original : undefined
      return bareLength + sum(raw, original, bytes) + headersLength(http?.headers)
    }
    case 'http': {
      const { requestBody, body, bytes, requestHeaders, headers } = record
      return (
        bareLength + sum(requestBody, body, bytes) + headersLength(requestHeaders) + headersLength(headers)
      )
    }
    case 'noise':
    case 'stderr':
      return bareLength + sum(record.text, record.bytes)
    default:
      return bareLength
  }
}

function sum(...texts: readonly (string | undefined)[]): number {
  return texts.reduce((length, text = '') => length + text.length, 0)
}

function headersLength(headers: HttpHeaders = []): number {
  return headers.reduce((length, [name, value]) => length + name.length + value.length, 0)
}

/** Members of any length, chosen by a peer. */
const long = ['method', 'subject', 'errorMessage', 'id'] as const

/** The parts of a record that a list shows, as a copy: a substring would keep the whole line in memory. */
export function outlineOf(record: TapeRecord): TapeRecord {
  return structuredClone(withoutTexts(record))
}

function withoutTexts(record: TapeRecord): TapeRecord {
  switch (record.type) {
    case 'message': {
      const { original: _, bytes: __, red: ___, http, ...kept } = record
      const { headers: ____, ...place } = http ?? {}
      const parts = kept.parts.map(outlined)
      return { ...kept, raw: '', parts, ...(http && { http: place as typeof http }) }
    }
    case 'held': {
      const { bytes: _, red: __, http, ...kept } = record
      const { headers: ___, ...place } = http ?? {}
      const parts = kept.parts.map(outlined)
      return { ...kept, raw: '', parts, ...(http && { http: place as typeof http }) }
    }
    case 'http': {
      const { requestBody: _, body: __, bytes: ___, requestHeaders: ____, headers: _____, ...kept } = record
      return kept
    }
    case 'noise':
    case 'stderr': {
      const { bytes: _, text, ...kept } = record
      return { ...kept, text: text.slice(0, shownLength) }
    }
    default:
      return record
  }
}

function outlined(part: Part): Part {
  const {
    argumentsText: _,
    requestState: __,
    inputRequests: ___,
    inputResponses: ____,
    ...envelope
  } = part.envelope
  const short: { -readonly [K in keyof Envelope]: Envelope[K] } = envelope
  for (const name of long) {
    const text = short[name]
    if (text !== undefined && text.length > shownLength) short[name] = text.slice(0, shownLength)
  }
  return { ...part, envelope: short }
}
