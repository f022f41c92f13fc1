import type { TapeRecord } from '../model/index.js'

/** Contents of records, as a `gap` would report them if they were missing. */
export interface Amount {
  /** Messages and lines of noise. */
  readonly messages: number
  /** Lines of stderr. */
  readonly stderr: number
  /** Bytes of both on the wire. */
  readonly bytes: number
}

export const nothing: Amount = { messages: 0, stderr: 0, bytes: 0 }

export function sumOf(a: Amount, b: Amount): Amount {
  return { messages: a.messages + b.messages, stderr: a.stderr + b.stderr, bytes: a.bytes + b.bytes }
}

/** A gap counts with the amounts it reports; records that only describe the recording count as nothing. */
export function amountOf(record: TapeRecord): Amount {
  switch (record.type) {
    case 'message':
      return {
        messages: record.parts.length,
        stderr: 0,
        bytes: record.utf8?.length ?? bytesOf(record.raw, record.bytes),
      }
    case 'noise':
      return { messages: 1, stderr: 0, bytes: bytesOf(record.text, record.bytes) }
    case 'stderr':
      return { messages: 0, stderr: 1, bytes: bytesOf(record.text, record.bytes) }
    case 'gap':
      return { messages: record.lost, stderr: record.lostStderr ?? 0, bytes: record.lostBytes ?? 0 }
    default:
      return nothing
  }
}

/** Sum of the contents of lines. */
export interface Tally {
  records: number
  messages: number
  /** JSON-RPC errors and failed tool results. */
  errors: number
  gaps: number
  /** Messages that the gaps report as missing. */
  lost: number
  /** The amount that would be missing without these lines. */
  amount: Amount
}

export function emptyTally(): Tally {
  return { records: 0, messages: 0, errors: 0, gaps: 0, lost: 0, amount: nothing }
}

export function addTally(to: Tally, more: Tally): void {
  to.records += more.records
  to.messages += more.messages
  to.errors += more.errors
  to.gaps += more.gaps
  to.lost += more.lost
  to.amount = sumOf(to.amount, more.amount)
}

function bytesOf(text: string, base64: string | undefined): number {
  return base64 === undefined ? Buffer.byteLength(text) : Buffer.byteLength(base64, 'base64')
}
