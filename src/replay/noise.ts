import { createRedactor } from '../redaction/index.js'

/** Counts what a server says in the place of messages, and keeps the beginning of the first. */
export interface Noise {
  take(text: string): void
  /** For a person; undefined when there was none. */
  note(): string | undefined
}

const longestSample = 80
/** Characters that are looked at for secrets. */
const longestSeen = 1_000

export function createNoise(): Noise {
  let count = 0
  let first = ''
  return {
    take(text) {
      count += 1
      if (count === 1) first = sampleOf(text)
    },
    note() {
      if (count === 0) return undefined
      const what = count === 1 ? '1 thing that is' : `${count} things that are`
      return `the server said ${what} no JSON-RPC, first: ${first}`
    },
  }
}

function sampleOf(text: string): string {
  const redactor = createRedactor({ defaults: true, tag: () => '' })
  const seen = redactor.text(text.slice(0, longestSeen).trim())
  return seen.length <= longestSample ? seen : `${seen.slice(0, longestSample)}…`
}
