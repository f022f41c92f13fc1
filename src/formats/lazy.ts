import { answeredHere } from './answered-here.js'
import type { Format } from './format.js'
import { opened } from './iterate.js'

type Read = NonNullable<Format['read']>
type Write = NonNullable<Format['write']>

/** A reader that is loaded when something is read: a recorder that starts needs none. */
export function lazyRead(load: () => Promise<Read>): Read {
  return (input, report) => opened(async () => (await load())(input, report))
}

/** The same of a writer, of a format that knows no held messages. */
export function lazyWrite(load: () => Promise<Write>): Write {
  return (recording, report) => opened(async () => (await load())(answeredHere(recording), report))
}
