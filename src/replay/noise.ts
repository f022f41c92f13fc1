import { failureOf } from '../compare/index.js'
import { Redactor } from '../redaction/index.js'
import type { Stray } from './live-connection.js'

/** Counts server output that fits nowhere, and keeps the beginning of the first of each kind. */
export interface Noise {
  take(text: string): void
  /** The id of a response that no request awaits. */
  stray(id: string, why: Stray): void
  /** A response without an id. */
  nameless(text: string): void
  /** Notes for a person. */
  notes(): string[]
}

const longestSample = 80
/** Number of characters searched for secrets. */
const longestSeen = 1_000

export function createNoise(): Noise {
  let count = 0
  let first = ''
  const strays = {
    again: { count: 0, first: '' },
    late: { count: 0, first: '' },
    unasked: { count: 0, first: '' },
  }
  const nameless = { count: 0, first: '' }
  return {
    take(text) {
      count += 1
      if (count === 1) first = sampleOf(text)
    },
    stray(id, why) {
      const kind = strays[why]
      kind.count += 1
      if (kind.count === 1) kind.first = sampleOf(id)
    },
    nameless(text) {
      nameless.count += 1
      if (nameless.count === 1) nameless.first = sampleOf(failureOf(text) ?? text)
    },
    notes() {
      const notes: string[] = []
      if (count > 0) {
        const what = count === 1 ? 'once' : `${count} times, first`
        notes.push(`the server sent invalid JSON-RPC ${what}: ${first}`)
      }
      const { again, late, unasked } = strays
      const requests = (number: number, id: string): string =>
        number === 1 ? `1 request, id ${id}` : `${number} requests, first id ${id}`
      if (again.count > 0)
        notes.push(`the server sent more than one response to ${requests(again.count, again.first)}`)
      if (late.count > 0)
        notes.push(`the server responded after the timeout to ${requests(late.count, late.first)}`)
      if (unasked.count > 0) {
        const what =
          unasked.count === 1
            ? '1 response has an unknown id'
            : `${unasked.count} responses have unknown ids, first`
        notes.push(`${what}: ${unasked.first}`)
      }
      if (nameless.count > 0) {
        const what =
          nameless.count === 1 ? '1 response has no id' : `${nameless.count} responses have no id, first`
        notes.push(`${what}: ${nameless.first}`)
      }
      return notes
    },
  }
}

function sampleOf(text: string): string {
  const redactor = new Redactor({ defaults: true, tag: () => '' })
  const seen = redactor.text(text.slice(0, longestSeen).trim())
  return seen.length <= longestSample ? seen : `${seen.slice(0, longestSample)}…`
}
