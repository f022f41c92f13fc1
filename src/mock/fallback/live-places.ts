import type { Envelope } from '../../model/index.js'
import { idKey } from '../../wire/index.js'
import type { Script } from '../script.js'
import { noRow } from '../script.js'

/**
 * Where in the recording each message of a live conversation belongs: the number of the recorded message that it comes
 * after; -1 for before all of them. Messages of one place stand in the order in which they came.
 */
export interface LivePlaces {
  /** The recording has this message of the client: what is new from here on comes after it and its answer. */
  heard(row: number): void
  /** @param replaces the recorded call whose place it takes, or `noRow` */
  asked(envelope: Envelope, replaces: number): number
  /** A cancellation, a reply, a notification. */
  fromClient(envelope: Envelope): number
  fromServer(envelope: Envelope): number
}

interface OpenCall {
  readonly place: number
  readonly token: string | undefined
}

/** @param from where it begins */
export function createLivePlaces(script: Script, from = -1): LivePlaces {
  /** Of what the client said last. */
  let latest = from
  /** Of what the client said so far. */
  let furthest = from
  const calls = new Map<string, OpenCall>()
  const questions = new Map<string, number>()

  function moveTo(place: number): number {
    latest = place
    furthest = Math.max(furthest, place)
    return place
  }

  /** Nothing stands before what it belongs to. */
  const notBefore = (place: number | undefined): number => Math.max(latest, place ?? from)
  const keyOf = ({ id = 'null' }: Envelope): string => idKey(id)

  function taken<T>(map: Map<string, T>, key: string): T | undefined {
    const value = map.get(key)
    map.delete(key)
    return value
  }

  /** The call that a notification or a question of the server follows from. */
  function causeOf({ progressToken }: Envelope): OpenCall | undefined {
    const open = [...calls.values()]
    return open.find(({ token }) => token !== undefined && token === progressToken) ?? open.at(-1)
  }

  return {
    heard(row) {
      const answer = script.answerTo(row)
      moveTo(Math.max(script.number(row), answer === noRow ? -1 : script.number(answer)))
    },
    asked(envelope, replaces) {
      const place = moveTo(replaces === noRow ? furthest : script.number(replaces))
      calls.set(keyOf(envelope), { place, token: envelope.progressToken })
      return place
    },
    fromClient(envelope) {
      if (envelope.cancels !== undefined) return notBefore(taken(calls, idKey(envelope.cancels))?.place)
      if (envelope.kind === 'notification') return moveTo(furthest)
      return notBefore(taken(questions, keyOf(envelope)))
    },
    fromServer(envelope) {
      if (envelope.kind === 'result' || envelope.kind === 'error')
        return notBefore(taken(calls, keyOf(envelope))?.place)
      const place = notBefore(causeOf(envelope)?.place)
      if (envelope.kind === 'request') questions.set(keyOf(envelope), place)
      return place
    },
  }
}
