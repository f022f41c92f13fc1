import { LineFramer, type LineFrame } from '../../wire/index.js'
import { flatMapped } from '../iterate.js'
import type { Profile } from './profile.js'
import { faultOf } from './unique-members.js'
import { refused, type SourceItem, type SourceOptions, type TranscriptSource } from './source.js'

/** Longest line that fits a JavaScript string. */
const longestLine = 500 * 1024 * 1024

/** `jsonrpc`: one message per line. */
export function linesSource(profile: Profile): TranscriptSource {
  return { isWhole: false, isEnveloped: false, items: (bytes, options) => items(profile, bytes, options) }
}

function items(
  profile: Profile,
  bytes: AsyncIterable<Uint8Array>,
  { checked, note }: SourceOptions,
): AsyncIterable<SourceItem> {
  const framer = new LineFramer({ maxBytes: longestLine })
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let number = 0
  function decoded(line: Uint8Array): string {
    try {
      return utf8.decode(line)
    } catch {
      throw refused(`line ${number}: stream did not contain valid UTF-8`)
    }
  }
  function item(frame: LineFrame): SourceItem | undefined {
    number += 1
    if (frame.kind === 'piece') {
      throw refused(`line ${number} is longer than ${longestLine / 1024 / 1024} MiB`)
    }
    let text = decoded(frame.bytes)
    if (number === 1 && text.startsWith('\ufeff')) {
      note('starts with a byte order mark')
      text = text.slice(1)
    }
    // White space as in JavaScript; to importers, a byte order mark inside a file is not white space.
    text = /^\ufeff|\ufeff$/.test(text) ? text : text.trim()
    if (text === '') return undefined
    const fault = checked ? undefined : faultOf(profile, text)
    if (fault !== undefined) throw refused([`invalid JSON on line ${number}`, fault])
    return { number, messages: [{ text }] }
  }
  function* itemsOf(frames: readonly LineFrame[]): Generator<SourceItem> {
    for (const frame of frames) {
      const found = item(frame)
      if (found) yield found
    }
  }
  return flatMapped(
    bytes,
    (chunk) => itemsOf(framer.push(chunk)),
    () => itemsOf(framer.end()),
  )
}
