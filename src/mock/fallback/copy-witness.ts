import type { Envelope } from '../../model/index.js'
import { idKey } from '../../wire/index.js'
import { noRow, type Script } from '../script.js'
import { canAsMuch } from './abilities.js'
import type { FallbackWitness } from './fallback.js'
import { createLivePlaces, type LivePlaces } from './live-places.js'
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
export class CopyWitness implements FallbackWitness {
  readonly #options: CopyWitnessOptions
  #places: LivePlaces
  /** Undefined until the first addition. */
  #isOwn: boolean | undefined
  /** Recorded requests of the server are only fit for clients with all capabilities of the recorded one. */
  #fits = true
  /** How the client opened its conversation with the recording; its server got the same messages. */
  readonly #opened: { readonly text: string; readonly envelope: Envelope }[] = []
  /** In a separate conversation: work that waits for the server's response to `initialize`. */
  #waiting: (() => void)[] | undefined
  /** Calls by id for which the server has sent nothing yet. */
  readonly #unheard = new Map<string, { readonly number: number; readonly row: number }>()

  constructor(options: CopyWitnessOptions) {
    this.#options = options
    this.#places = createLivePlaces(options.script)
  }

  heard(row: number, text: string, envelope: Envelope): void {
    if (
      this.#options.what === 'new' &&
      opening.includes(envelope.method) &&
      (this.#isOwn === undefined || this.#waiting)
    )
      this.#opened.push({ text, envelope })
    // The server does not see calls answered by the recording, but it gets notifications.
    else if (this.#isOwn && envelope.kind === 'notification') this.#addClient(text, envelope)
    if (!this.#isOwn) this.#places.heard(row)
  }

  asked(text: string, envelope: Envelope, replaces: number): void {
    if (this.#isOwn === undefined && envelope.method === 'initialize' && replaces !== noRow)
      this.#fits = canAsMuch(text, this.#options.script.text(replaces))
    this.#inTurn(() => this.#addCall(text, envelope, replaces))
  }

  unanswered(id: string): void {
    this.#inTurn(() => this.#takeBack(id))
  }

  greeted(text: string, envelope: Envelope): void {
    if (!this.#waiting) return
    const [initialize, ...more] = this.#opened
    if (initialize) this.#addCall(initialize.text, initialize.envelope, noRow)
    this.#addServer(text, envelope)
    for (const message of more) this.#addClient(message.text, message.envelope)
    const works = this.#waiting
    this.#waiting = undefined
    for (const work of works) work()
  }

  fromClient(text: string, envelope: Envelope): void {
    this.#inTurn(() => this.#addClient(text, envelope))
  }

  fromServer(text: string, envelope: Envelope): void {
    this.#inTurn(() => this.#addServer(text, envelope))
  }

  #addClient(text: string, envelope: Envelope): void {
    void this.#options.add({ text, direction: 'client_to_server', place: this.#places.fromClient(envelope) })
  }

  #addServer(text: string, envelope: Envelope): void {
    // A message that is not a response may belong to any of these calls.
    if (envelope.kind === 'result' || envelope.kind === 'error')
      this.#unheard.delete(idKey(envelope.id ?? 'null'))
    else this.#unheard.clear()
    this.#options.add({ text, direction: 'server_to_client', place: this.#places.fromServer(envelope) })
  }

  #begin(): void {
    if (this.#isOwn !== undefined) return
    this.#isOwn = !this.#options.joins(this.#fits)
    if (!this.#isOwn) return
    this.#places = createLivePlaces(this.#options.script, atTheEnd)
    if (this.#opened[0]?.envelope.method === 'initialize') this.#waiting = []
    else for (const { text, envelope } of this.#opened) this.#addClient(text, envelope)
  }

  #inTurn(work: () => void): void {
    this.#begin()
    if (this.#waiting) this.#waiting.push(work)
    else work()
  }

  #addCall(text: string, envelope: Envelope, replaces: number): void {
    const row = this.#isOwn ? noRow : replaces
    if (row !== noRow) this.#options.replaced(row, true)
    const number = this.#options.add({
      text,
      direction: 'client_to_server',
      place: this.#places.asked(envelope, row),
    })
    this.#unheard.set(idKey(envelope.id ?? 'null'), { number, row })
  }

  /** A call without a response is not new, and the recording may have one. */
  #takeBack(id: string): void {
    const call = this.#unheard.get(idKey(id))
    if (!call) return
    this.#options.remove(call.number)
    if (call.row !== noRow) this.#options.replaced(call.row, false)
  }
}
