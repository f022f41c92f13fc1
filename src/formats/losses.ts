import {
  createRecent,
  noTime,
  recordTypes,
  type MessageRecord,
  type Report,
  type TapeRecord,
} from '../model/index.js'

/** What a target cannot hold, summed up: one diagnostic a kind. */
export interface Losses {
  /** A record that has no place in the target. Lines around a recording are not missed. */
  record(record: TapeRecord): void
  /** What people, rules and redaction did to a message, for a target that has a place for the message only. */
  marks(record: MessageRecord): void
  /** A message of which it is not known when it was, for a target that says a time of each. */
  times(message: MessageRecord, startedAt: string | undefined): void
  /** What else a message refers to, for a target that knows requests and answers only. */
  links(message: MessageRecord): void
  /** Which of several conversations a message is of, for a target that knows one. */
  conversation(message: MessageRecord): void
  /** Answers of which only the recording knows whose they are, for a target that has nothing but their ids. */
  pairs(message: MessageRecord): void
  /** For a target that has milliseconds. */
  micros(message: MessageRecord): void
  /** @param what in words for a person, the same for the same kind of loss */
  add(what: string, count?: number): void
  tell(): void
}

export function createLosses(report: Report): Losses {
  const counts = new Map<string, number>()
  /** Requests that shared their id with another one. */
  const twice = createRecent<true>({ entries: 10_000 })
  const conversations = { first: undefined as string | undefined, messages: 0, areMany: false }
  function add(what: string, count = 1): void {
    counts.set(what, (counts.get(what) ?? 0) + count)
  }
  return {
    add,
    marks({ modified, heldMs, injected, rule, red, bytes }) {
      if (bytes !== undefined) add('line breaks and white space of messages, as they came, are left out')
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
    links({ parts }) {
      const linked = parts.filter(({ links }) => links).length
      if (linked > 0) add('links are left out', linked)
    },
    pairs({ parts }) {
      for (const { id, duplicateOf, correlatedId } of parts) {
        if (duplicateOf !== undefined)
          for (const one of [id, duplicateOf]) if (one !== undefined) twice.set(one, true)
        if (correlatedId !== undefined && twice.get(correlatedId)) {
          add('which of the requests under one id answers belong to is left out')
        }
      }
    },
    conversation({ conversation = '', parts }) {
      conversations.first ??= conversation
      conversations.areMany ||= conversation !== conversations.first
      conversations.messages += parts.length
    },
    micros({ us = 0, parts }) {
      if (us % 1000 !== 0) add('microseconds of times are left out', parts.length)
    },
    record(record) {
      if (record.type !== 'meta' && record.type !== 'end')
        add(`${recordTypes[record.type].plural} are left out`)
    },
    tell() {
      if (conversations.areMany) {
        add('which of several conversations a message is of is left out', conversations.messages)
      }
      for (const [what, count] of counts) {
        report({ severity: 'warning', code: 'lost', message: `${what}: ${count}` })
      }
    },
  }
}
