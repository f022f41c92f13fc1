import { computed, signal } from '@preact/signals'
import type { CommandBody, GateState, HeldEvent, Success } from '../../src/control-schema/index.js'
import type { Lane } from '../worker/protocol.js'
import { openChannel, type ActingEvent, type Channel } from './channel.js'
import { clean } from '../shell/clean.js'
import { lane, lanes } from '../store/state.js'
import { door } from './door.js'
import { noteProgress } from './progress.js'

/** The current live recording; of several, the one in the chosen tab, or the first. */
export const target = computed(() => {
  const live = lanes.value.filter((one) => one?.state === 'following' && one.file.path !== undefined)
  return live.find(({ index }) => index === lane.value) ?? (lane.value === 'all' ? live[0] : undefined)
})

/** A recording in wiretape's list that is not live: a new connection to its server is possible. */
export const finished = computed(() => {
  const over = lanes.value.filter((one) => one?.state === 'done' && one.file.path !== undefined)
  return over.find(({ index }) => index === lane.value) ?? (over.length === 1 ? over[0] : undefined)
})

/** Characters of a notice. */
const longestNotice = 2_000

export const channel = signal<Channel | undefined>(undefined)
/** Lane of the attached capture. */
export const attachedTo = signal(-1)
export const gate = signal<GateState | undefined>(undefined)
/** Oldest first. */
export const held = signal<readonly HeldEvent[]>([])
/** The last rules file in force, so that it can be turned on again. */
export const knownRules = signal<string | undefined>(undefined)
export const attaching = signal(false)

export type Form =
  | { readonly kind: 'edit' | 'answer'; readonly held: HeldEvent }
  | { readonly kind: 'again' | 'note' | 'override'; readonly row: number }
  | { readonly kind: 'break' | 'rules' }
export const form = signal<Form | undefined>(undefined)

/** @param text may hold what a peer said */
export function tell(text: string, tone: 'plain' | 'bad' = 'plain'): void {
  const shown = text.length > longestNotice ? `${text.slice(0, longestNotice)}…` : text
  door.notice.value = { text: clean(shown), tone }
}

export function wordsOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

/** Attaches as a screen: from then on this page decides about held messages. */
export async function takeControl(one: Lane): Promise<void> {
  attaching.value = true
  try {
    const id = await recordingOf(one)
    channel.value = await openChannel(id, take, (why) => {
      leave()
      tell(why ?? 'The capture has ended.', why === undefined ? 'plain' : 'bad')
    })
    attachedTo.value = one.index
  } catch (error) {
    tell(`Cannot attach: ${wordsOf(error)}`, 'bad')
  } finally {
    attaching.value = false
  }
}

export function leave(): void {
  channel.value?.close()
  channel.value = undefined
  attachedTo.value = -1
  gate.value = undefined
  held.value = []
  form.value = undefined
}

/** Id in the list of recordings. @throws Error with a message for the user */
export async function recordingOf({ file }: Lane): Promise<string> {
  for (const path of ['./api/given', './api/recordings']) {
    const response = await door.fetch(path)
    if (!response.ok) throw new Error((await response.text()).trim())
    const all = (await response.json()) as readonly { readonly id: string; readonly path: string }[]
    const found = all.find((one) => one.path === file.path)
    if (found) return found.id
  }
  throw new Error('wiretape no longer lists this recording')
}

function take(event: ActingEvent): void {
  switch (event.type) {
    case 'state':
      gate.value = event.state
      if (event.state.rules) knownRules.value = event.state.rules.file
      break
    case 'held':
      held.value = [...held.value.filter(({ message }) => message !== event.message), event]
      break
    case 'held-changed':
      held.value = held.value.map((one) =>
        one.message === event.message ? { ...one, ...event, type: 'held' } : one,
      )
      break
    case 'released':
      held.value = held.value.filter(({ message }) => message !== event.message)
      break
    case 'progress':
      noteProgress(event.text)
      break
    case 'notice':
      tell(event.message)
      break
    default:
      break
  }
}

/** Sends a command and shows errors as a notice. Returns undefined on failure. */
export async function act(command: CommandBody, done?: string): Promise<Success | undefined> {
  try {
    const result = await channel.value?.send(command)
    if (result && done !== undefined) tell(done)
    return result
  } catch (error) {
    tell(wordsOf(error), 'bad')
    return undefined
  }
}
