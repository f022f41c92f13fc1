import type { Envelope, MessageRecord } from '../model/index.js'
import { conversationStart } from './script.js'

/** Facts about a recorded conversation while the recording is read. */
export interface RecordedConversation {
  readonly number: number
  /** Its name in the recording. */
  readonly name: string
  /** Calls neither answered nor cancelled, oldest first; without those that stay open for good. */
  readonly open: number[]
  /** The client's last message. */
  last: number
  /** Whether one of its calls was `initialize`; undefined before the first call. */
  opened?: boolean
}

export interface RecordedConversations {
  /** Another recording begins. */
  nextSession(): void
  of(name: string): RecordedConversation
  /** The conversation to which a message of the client belongs. */
  ofClient(record: MessageRecord, envelope: Envelope): RecordedConversation
  byNumber(number: number): RecordedConversation | undefined
  /** Numbers of the conversations that a client opened, in order. */
  openings(): number[]
  /** Whether a conversation began with `initialize`. */
  hasOpened(): boolean
}

/** Connections of clients without a session form one conversation: any request can come on any of them. */
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
      // A probe for the modern era may precede the actual conversation.
      const own = numbersOf(true)
      return own.length > 0 ? own : numbersOf(false)
    },
    hasOpened: () => numbersOf(true).length > 0,
  }
}
