import type { Envelope, MessageRecord } from '../model/index.js'
import { conversationStart } from './script.js'

/** What is known of a recorded conversation while the recording is read. */
export interface RecordedConversation {
  readonly number: number
  /** What the recording calls it. */
  readonly name: string
  /** Calls that are neither answered nor cancelled, oldest first; those that stay open for good left out. */
  readonly open: number[]
  /** The client's last message. */
  last: number
  /** Whether a call of it was `initialize`; undefined before there was any. */
  opened?: boolean
}

export interface RecordedConversations {
  /** Another recording begins. */
  nextSession(): void
  of(name: string): RecordedConversation
  /** Whose message this is, of the client's. */
  ofClient(record: MessageRecord, envelope: Envelope): RecordedConversation
  byNumber(number: number): RecordedConversation | undefined
  /** Numbers of those that a client opened, in their order. */
  openings(): number[]
  /** Whether one began with `initialize`. */
  hasOpened(): boolean
}

/** Connections of clients that have no session are one conversation: any request can come on any of them. */
const shared = 'shared'

export function createRecordedConversations(): RecordedConversations {
  const byName = new Map<string, RecordedConversation>()
  const all: RecordedConversation[] = []
  let session = 0

  const keyOf = (name: string): string => `${session} ${name}`
  const numbersOf = (opened: boolean): number[] =>
    all.flatMap((conversation) => (conversation.opened === opened ? [conversation.number] : []))

  function of(name: string): RecordedConversation {
    const known = byName.get(keyOf(name))
    if (known) return known
    const number = all.length
    const conversation = { number, name, open: [], last: conversationStart(number) }
    byName.set(keyOf(name), conversation)
    all.push(conversation)
    return conversation
  }

  return {
    nextSession: () => void (session += 1),
    of,
    ofClient(record, envelope) {
      const name = record.conversation ?? ''
      if (envelope.modern) return of(record.conversation === undefined ? '' : shared)
      const ofConnection = name.startsWith('connection-') && !byName.has(keyOf(name))
      return of(ofConnection && envelope.method !== 'initialize' ? shared : name)
    },
    byNumber: (number) => all[number],
    openings() {
      // A probe for the modern era may stand before the conversation that follows it.
      const own = numbersOf(true)
      return own.length > 0 ? own : numbersOf(false)
    },
    hasOpened: () => numbersOf(true).length > 0,
  }
}
