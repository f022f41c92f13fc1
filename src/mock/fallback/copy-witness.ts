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
   * True when this is the first that adds to the recorded conversation which it follows: it goes on there. Any other is a
   * talk of its own: ids, and what a server remembers, mean something within one only.
   *
   * @param fits false for a client with which the recorded conversation could not have been
   */
  readonly joins: (fits: boolean) => boolean
  /** That recorded call was asked again; false when it was in vain. */
  readonly replaced: (row: number, isReplaced: boolean) => void
  /** Returns the number of the message. */
  readonly add: (message: Pick<NewMessage, 'text' | 'direction' | 'place'>) => number
  readonly remove: (number: number) => void
}

/** After all that was recorded. */
const atTheEnd = 2 ** 31 - 1

const opening: readonly (string | undefined)[] = ['initialize', 'notifications/initialized']

/** Sees what passes between one client and its real server, and adds what belongs on the copy, where it belongs. */
export function createCopyWitness({
  script,
  what,
  joins,
  replaced,
  add,
  remove,
}: CopyWitnessOptions): FallbackWitness {
  let places = createLivePlaces(script)
  /** Undefined until there is something to add. */
  let isOwn: boolean | undefined
  /** Questions that stay in the recording are for clients that can do as much as the recorded one. */
  let fits = true
  /** How the client opened its talk with the recording, which is how its server was greeted. */
  const opened: { readonly text: string; readonly envelope: Envelope }[] = []
  /** What waits in a talk of its own for the server's answer to the greeting. */
  let waiting: (() => void)[] | undefined

  /** Calls to which the server has said nothing yet, by id. */
  const unheard = new Map<string, { readonly number: number; readonly row: number }>()

  const addClient = (text: string, envelope: Envelope): void =>
    void add({ text, direction: 'client_to_server', place: places.fromClient(envelope) })
  function addServer(text: string, envelope: Envelope): void {
    // What is no answer may belong to any of them.
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

  /** What nobody answered is not new, and the recording may know the answer. */
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
      // What the recording answers its server has not seen; of notifications it is told.
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
