import type { Envelope } from '../../model/index.js'
import { idKey } from '../../wire/index.js'
import type { Script } from '../script.js'
import { noRow } from '../script.js'

/**
 * The place of each message of a live conversation in the recording: the number of the recorded message before it; -1
 * for before all of them. Messages with the same place keep their order of arrival.
 */
export interface LivePlaces {
  /** The recording has this message of the client: later new messages come after it and its response. */
  heard(row: number): void
  /** @param replaces the recorded call whose place the call takes, or `noRow` */
  asked(envelope: Envelope, replaces: number): number
  /** A cancellation, a response or a notification of the client. */
  fromClient(envelope: Envelope): number
  fromServer(envelope: Envelope): number
}

interface OpenCall {
  readonly place: number
  readonly token: string | undefined
}

/** @param from the first place */
export function createLivePlaces(script: Script, from = -1): LivePlaces {
  /** Place of the client's last message. */
  let latest = from
  /** Furthest place of the client's messages so far. */
  let furthest = from
  const calls = new Map<string, OpenCall>()
  const questions = new Map<string, number>()

  function moveTo(place: number): number {
    latest = place
    furthest = Math.max(furthest, place)
    return place
  }

  /** A message never comes before the message it belongs to. */
  const notBefore = (place: number | undefined): number => Math.max(latest, place ?? from)
  const keyOf = ({ id = 'null' }: Envelope): string => idKey(id)

  function taken<T>(map: Map<string, T>, key: string): T | undefined {
    const value = map.get(key)
    map.delete(key)
    return value
  }

  /** The call that caused a notification or a request of the server. */
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
