import {
  createRecent,
  noTime,
  recordTypes,
  type MessageRecord,
  type Report,
  type TapeRecord,
} from '../model/index.js'

/** Losses of a conversion, summed up: one diagnostic per kind. */
export interface Losses {
  /** A record without a place in the target. First and last lines are not reported. */
  record(record: TapeRecord): void
  /** Changes by people, rules and redaction, for a target that holds the message only. */
  marks(record: MessageRecord): void
  /** A message without a known time, for a target that requires a time for each. */
  times(message: MessageRecord, startedAt: string | undefined): void
  /** Links to other messages, for a target that knows requests and responses only. */
  links(message: MessageRecord): void
  /** The conversation of a message, for a target that knows only one. */
  conversation(message: MessageRecord): void
  /** Responses matched only by the recording, for a target that has ids alone. */
  pairs(message: MessageRecord): void
  /** For a target with a resolution of milliseconds. */
  micros(message: MessageRecord): void
  /** @param what in words for a person, the same for the same kind of loss */
  add(what: string, count?: number): void
  tell(): void
}

export function createLosses(report: Report): Losses {
  const counts = new Map<string, number>()
  /** Requests that share their id with another one. */
  const twice = createRecent<true>({ entries: 10_000 })
  const conversations = { first: undefined as string | undefined, messages: 0, areMany: false }
  function add(what: string, count = 1): void {
    counts.set(what, (counts.get(what) ?? 0) + count)
  }
  return {
    add,
    marks({ modified, heldMs, injected, rule, red, bytes }) {
      if (bytes !== undefined) add('original line breaks and white space of messages are left out')
      if (modified) add('original texts of edited messages are left out')
      if (heldMs !== undefined) add('hold times of messages are left out')
      if (injected) add('marks of injected messages are left out')
      if (rule !== undefined) add('names of the rules that acted on messages are left out')
      if (red) add('redaction tags are left out')
    },
    times({ t, untimed }, startedAt) {
      if (untimed) add('messages without a time get the time of the previous message')
      else if (t === noTime && startedAt === noTime) {
        add('unknown times are written as the year 1970')
      }
    },
    links({ parts }) {
      const linked = parts.filter(({ links }) => links).length
      if (linked > 0) add('links between messages are left out', linked)
    },
    pairs({ parts }) {
      for (const { id, duplicateOf, correlatedId } of parts) {
        if (duplicateOf !== undefined)
          for (const one of [id, duplicateOf]) if (one !== undefined) twice.set(one, true)
        if (correlatedId !== undefined && twice.get(correlatedId)) {
          add('matches of responses to requests that share an id are left out')
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
        add('conversations of messages are left out', conversations.messages)
      }
      for (const [what, count] of counts) {
        report({ severity: 'warning', code: 'lost', message: `${what}: ${count}` })
      }
    },
  }
}
