import { computed, signal } from '@preact/signals'
import { JsonObject } from '../../src/wire/index.js'
import { actingHeaders, askToAct, readLines } from './channel.js'
import { door } from './door.js'
import { noteProgress } from './progress.js'
import { lanes } from '../store/state.js'
import { tell, wordsOf } from './state.js'
import { objectIn } from './values.js'

/** A session in which this page is the client of a server. */
export interface Session {
  readonly id: string
  /** Id of the session's recording. */
  readonly recording: string
  /** The session continues while no page shows it. */
  readonly isKept?: boolean
  /** Remaining time while no page shows it. */
  readonly endsInMs?: number
  /** Why the session has ended by itself. */
  readonly ended?: string
}

export interface Question {
  readonly question: string
  /** The server's request as text. */
  readonly text: string
}

export interface Answer {
  readonly answer?: string
  readonly error?: string
  readonly latencyMs?: number
}

type SessionEvent =
  | { readonly type: 'session'; readonly greeting: string | null; readonly roots: string }
  | ({ readonly type: 'question' } & Question)
  | { readonly type: 'settled'; readonly question: string }
  | { readonly type: 'notification'; readonly text: string }
  | { readonly type: 'ended'; readonly why: string }

/** Maximum number of notifications shown. */
const mostNotifications = 200

export const session = signal<Session | undefined>(undefined)
export const greeting = signal<string | null>(null)
export const questions = signal<readonly Question[]>([])
/** Newest last. */
export const notifications = signal<readonly { readonly method: string; readonly params: string }[]>([])
export const roots = signal<readonly { readonly uri: string }[]>([])
export const ended = signal<string | undefined>(undefined)

interface ServerSays {
  readonly capabilities?: {
    readonly completions?: unknown
    readonly logging?: unknown
    readonly resources?: { readonly subscribe?: boolean }
  }
  readonly instructions?: unknown
  readonly serverInfo?: { readonly name?: unknown; readonly version?: unknown }
}

/** The server's initialize result, as JSON values. */
export const serverSays = computed((): ServerSays => {
  const result = greeting.value === null ? undefined : new JsonObject(greeting.value, 0).raw('result')
  return objectIn(JSON.parse(result ?? '{}'))
})

let abort: AbortController | undefined

/** Finds the session that belongs to this page's recording; also after a reload. */
export function findSession(): void {
  lanes.subscribe((all) => {
    if (session.value || !all.some((one) => one?.state === 'following')) return
    const open = new URLSearchParams(location.search).getAll('open')
    askToAct('./api/sessions').then(
      (found) => {
        const mine = (found as Session[]).find(({ recording }) => open.includes(recording))
        if (mine && !session.value) follow(mine)
      },
      () => undefined,
    )
  })
}

function follow(found: Session): void {
  session.value = found
  ended.value = undefined
  questions.value = []
  notifications.value = []
  abort = new AbortController()
  const { signal: aborted } = abort
  door
    .fetch(`./api/sessions/${found.id}`, { headers: actingHeaders, signal: aborted })
    .then((response) => readLines(response.body!, (line) => take(JSON.parse(line) as SessionEvent)))
    .then(
      () => (ended.value ??= 'the session has ended'),
      () => {
        if (!aborted.aborted) ended.value ??= 'the connection to wiretape was lost'
      },
    )
}

function take(event: SessionEvent): void {
  switch (event.type) {
    case 'session':
      greeting.value = event.greeting
      roots.value = JSON.parse(event.roots) as { uri: string }[]
      break
    case 'question':
      questions.value = [...questions.value, event]
      break
    case 'settled':
      questions.value = questions.value.filter(({ question }) => question !== event.question)
      break
    case 'notification': {
      noteProgress(event.text)
      const message = new JsonObject(event.text, 0)
      const said = { method: message.string('method') ?? '', params: message.raw('params') ?? '{}' }
      notifications.value = [...notifications.value.slice(-mostNotifications + 1), said]
      break
    }
    case 'ended':
      ended.value = event.why
  }
}

/** Sends a command of the session; shows an error as a notice. */
async function command(body: unknown): Promise<void> {
  try {
    await askToAct(`./api/sessions/${session.value!.id}`, body)
  } catch (error) {
    tell(wordsOf(error), 'bad')
  }
}

/** @throws Error with a message for the user */
export async function answerQuestion(question: string, text: string): Promise<void> {
  await askToAct(`./api/sessions/${session.value!.id}`, { type: 'answer', question, text })
}

/** @throws Error with a message for the user */
export async function askServer(key: string, method: string, params: string): Promise<Answer> {
  const body = { type: 'ask', key, method, params }
  return (await askToAct(`./api/sessions/${session.value!.id}`, body)) as Answer
}

export const cancelInSession = (key: string): Promise<void> => command({ type: 'cancel', key })

export function changeRoots(uris: readonly string[]): Promise<void> {
  roots.value = uris.map((uri) => ({ uri }))
  return command({ type: 'roots', roots: roots.value })
}

/** Sets whether the session continues half a minute after its page is closed. */
export async function keepOpen(isKept: boolean): Promise<void> {
  await command({ type: 'keep', on: isKept })
  session.value = { ...session.value!, isKept }
}

/** Ends the server, and with it the recording. */
export async function endSession(): Promise<void> {
  // wiretape forgets sessions that have ended.
  if (ended.value === undefined) await command({ type: 'close' })
  else await askToAct(`./api/sessions/${session.value!.id}`, { type: 'close' }).catch(() => undefined)
  abort?.abort()
  session.value = undefined
  questions.value = []
}
