import { answeredHere } from './answered-here.js'
import type { Format } from './format.js'
import { opened } from './iterate.js'

type Read = NonNullable<Format['read']>
type Write = NonNullable<Format['write']>

/** A reader that is loaded on first use: a starting recorder needs none. */
export function lazyRead(load: () => Promise<Read>): Read {
  return (input, report) => opened(async () => (await load())(input, report))
}

/** As `lazyRead`, for the writer of a format without held messages. */
export function lazyWrite(load: () => Promise<Write>): Write {
  return (recording, report) => opened(async () => (await load())(answeredHere(recording), report))
}

export type Writing = Format & { readonly write: Write }

/** A format that is only written. */
export function writeOnly(
  about: Pick<Format, 'id' | 'title' | 'extension'>,
  load: () => Promise<Write>,
): Writing {
  return { ...about, detect: () => 0, write: lazyWrite(load) }
}
