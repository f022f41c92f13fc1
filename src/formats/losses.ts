import { noTime, type MessageRecord, type Report, type TapeRecord } from '../model/index.js'

/** What a target cannot hold, summed up: one diagnostic a kind. */
export interface Losses {
  /** A record that has no place in the target. Lines around a recording are not missed. */
  record(record: TapeRecord): void
  /** What people, rules and redaction did to a message, for a target that has a place for the message only. */
  marks(record: MessageRecord): void
  /** A message of which it is not known when it was, for a target that says a time of each. */
  times(message: MessageRecord, startedAt: string | undefined): void
  /** @param what in words for a person, the same for the same kind of loss */
  add(what: string, count?: number): void
  tell(): void
}

const kinds: Readonly<Record<TapeRecord['type'], string>> = {
  message: 'messages',
  meta: 'meta lines',
  end: 'end lines',
  noise: 'lines that are no JSON',
  stderr: 'lines of stderr',
  http: 'HTTP exchanges without JSON-RPC',
  gap: 'gaps',
  undelivered: 'notes that a message was not delivered',
  held: 'notes that a message waited',
  dropped: 'messages that were held back',
  note: 'notes',
  unknown: 'lines of unknown types',
}

export function createLosses(report: Report): Losses {
  const counts = new Map<string, number>()
  function add(what: string, count = 1): void {
    counts.set(what, (counts.get(what) ?? 0) + count)
  }
  return {
    add,
    marks({ modified, heldMs, injected, rule, red }) {
      if (modified) add('what messages were before they were changed is left out')
      if (heldMs !== undefined) add('how long messages were held is left out')
      if (injected) add('which messages were put in by a person or a rule is left out')
      if (rule !== undefined) add('which rules acted on messages is left out')
      if (red) add('tags of redaction are left out')
    },
    times({ t, untimed }, startedAt) {
      if (untimed) add('messages of which no time is known have that of the one before')
      else if (t === noTime && startedAt === noTime) {
        add('times are not known, the year 1970 stands for them')
      }
    },
    record(record) {
      if (record.type !== 'meta' && record.type !== 'end') add(`${kinds[record.type]} are left out`)
    },
    tell() {
      for (const [what, count] of counts) {
        report({ severity: 'warning', code: 'lost', message: `${what}: ${count}` })
      }
    },
  }
}
