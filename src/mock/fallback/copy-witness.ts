import type { Envelope } from '../../model/index.js'
import { idKey } from '../../wire/index.js'
import { noRow, type Script } from '../script.js'
import { canAsMuch } from './abilities.js'
import type { FallbackWitness } from './fallback.js'
import { createLivePlaces } from './live-places.js'
import type { NewMessage } from './new-messages.js'

export interface CopyWitnessOptions {
  readonly script: Script
  readonly what: 'new' | 'all'
  /**
   * Whether this client may append to the recorded conversation that it follows; only the first one may. Any other gets
   * its own conversation, since ids and the server's state are valid within one only.
   *
   * @param fits false for a client whose capabilities do not fit the recorded conversation
   */
  readonly joins: (fits: boolean) => boolean
  /** The recorded call was sent again; false takes that back, when no response came. */
  readonly replaced: (row: number, isReplaced: boolean) => void
  /** Returns the number of the message. */
  readonly add: (message: Pick<NewMessage, 'text' | 'direction' | 'place'>) => number
  readonly remove: (number: number) => void
}

/** After everything recorded. */
const atTheEnd = 2 ** 31 - 1

const opening: readonly (string | undefined)[] = ['initialize', 'notifications/initialized']

/** Observes messages between one client and its real server, and adds the relevant ones to the copy, in place. */
export function createCopyWitness({
  script,
  what,
  joins,
  replaced,
  add,
  remove,
}: CopyWitnessOptions): FallbackWitness {
  let places = createLivePlaces(script)
  /** Undefined until the first addition. */
  let isOwn: boolean | undefined
  /** Recorded requests of the server are only fit for clients with all capabilities of the recorded one. */
  let fits = true
  /** How the client opened its conversation with the recording; its server got the same messages. */
  const opened: { readonly text: string; readonly envelope: Envelope }[] = []
  /** In a separate conversation: work that waits for the server's response to `initialize`. */
  let waiting: (() => void)[] | undefined

  /** Calls by id for which the server has sent nothing yet. */
  const unheard = new Map<string, { readonly number: number; readonly row: number }>()

  const addClient = (text: string, envelope: Envelope): void =>
    void add({ text, direction: 'client_to_server', place: places.fromClient(envelope) })
  function addServer(text: string, envelope: Envelope): void {
    // A message that is not a response may belong to any of these calls.
    if (envelope.kind === 'result' || envelope.kind === 'error') unheard.delete(idKey(envelope.id ?? 'null'))
    else unheard.clear()
    add({ text, direction: 'server_to_client', place: places.fromServer(envelope) })
  }

  function begin(): void {
    if (isOwn !== undefined) return
    isOwn = !joins(fits)
    if (!isOwn) return
    places = createLivePlaces(script, atTheEnd)
    if (opened[0]?.envelope.method === 'initialize') waiting = []
    else for (const { text, envelope } of opened) addClient(text, envelope)
  }

  function inTurn(work: () => void): void {
    begin()
    if (waiting) waiting.push(work)
    else work()
  }

  function addCall(text: string, envelope: Envelope, replaces: number): void {
    const row = isOwn ? noRow : replaces
    if (row !== noRow) replaced(row, true)
    const number = add({ text, direction: 'client_to_server', place: places.asked(envelope, row) })
    unheard.set(idKey(envelope.id ?? 'null'), { number, row })
  }

  /** A call without a response is not new, and the recording may have one. */
  function takeBack(id: string): void {
    const call = unheard.get(idKey(id))
    if (!call) return
    remove(call.number)
    if (call.row !== noRow) replaced(call.row, false)
  }

  return {
    heard(row, text, envelope) {
      if (what === 'new' && opening.includes(envelope.method) && (isOwn === undefined || waiting))
        opened.push({ text, envelope })
      // The server does not see calls answered by the recording, but it gets notifications.
      else if (isOwn && envelope.kind === 'notification') addClient(text, envelope)
      if (!isOwn) places.heard(row)
    },
    asked(text, envelope, replaces) {
      if (isOwn === undefined && envelope.method === 'initialize' && replaces !== noRow)
        fits = canAsMuch(text, script.text(replaces))
      inTurn(() => addCall(text, envelope, replaces))
    },
    unanswered: (id) => inTurn(() => takeBack(id)),
    greeted(text, envelope) {
      if (!waiting) return
      const [initialize, ...more] = opened
      if (initialize) addCall(initialize.text, initialize.envelope, noRow)
      addServer(text, envelope)
      for (const message of more) addClient(message.text, message.envelope)
      const works = waiting
      waiting = undefined
      for (const work of works) work()
    },
    fromClient: (text, envelope) => inTurn(() => addClient(text, envelope)),
    fromServer: (text, envelope) => inTurn(() => addServer(text, envelope)),
  }
}
