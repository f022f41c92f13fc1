import type { CommandBody, GateState, HeldEvent, Reply, Success } from '../../src/control-schema/index.js'
import { door } from './door.js'

/** An event of the control protocol, with the members that the page uses. */
export type ActingEvent =
  | { readonly type: 'channel'; readonly id: string; readonly label: string }
  | HeldEvent
  | {
      readonly type: 'held-changed'
      readonly message: string
      readonly moot?: string
      readonly reason?: HeldEvent['reason']
    }
  | { readonly type: 'released'; readonly message: string }
  | { readonly type: 'state'; readonly state: GateState }
  | { readonly type: 'notice'; readonly message: string }
  /** The server reports the progress of a request from this page. */
  | { readonly type: 'progress'; readonly text: string }
  | { readonly type: 'ended' }
  | { readonly type: 'live' }

/** An attachment to a live capture. */
export interface Channel {
  /** The channel's id in URLs. */
  readonly id: string
  /** @throws Error with a message for the user */
  send(command: CommandBody): Promise<Success>
  close(): void
}

/** No other site can send this header: the browser would send a preflight request, which wiretape refuses. */
export const actingHeaders = { 'x-wiretape-act': '1' }

/**
 * Attaches to the capture that writes a recording.
 *
 * @param recording its id in the list of recordings
 * @param lost called once if the attachment ends by itself, with the reason if known
 * @throws Error with a message for the user
 */
export async function openChannel(
  recording: string,
  take: (event: ActingEvent) => void,
  lost: (why?: string) => void,
): Promise<Channel> {
  const abort = new AbortController()
  const response = await door.fetch(`./api/recordings/${recording}/control`, {
    headers: actingHeaders,
    signal: abort.signal,
  })
  if (!response.ok || !response.body) throw new Error((await response.text()).trim())
  let attached: (id: string) => void = () => undefined
  let failed: (error: Error) => void = () => undefined
  const id = new Promise<string>((resolve, reject) => {
    attached = resolve
    failed = reject
  })
  let nextId = 1
  void readLines(response.body, (line) => {
    const event = JSON.parse(line) as ActingEvent
    if (event.type === 'channel') attached(event.id)
    else take(event)
  }).then(
    () => over(),
    (error: unknown) => over(error),
  )
  function over(error?: unknown): void {
    failed(new Error('the capture has ended'))
    if (!abort.signal.aborted) lost(error === undefined ? undefined : 'the connection to wiretape was lost')
  }
  const channel = await id
  return {
    id: channel,
    async send(command) {
      const reply = (await askToAct(`./api/control/${channel}`, { ...command, id: nextId++ })) as Reply
      if (reply.ok) return reply.result
      const { message, hint } = reply.error
      throw new Error(hint === undefined ? message : `${message}: ${hint}`)
    },
    close: () => abort.abort(),
  }
}

/**
 * Sends a request for an action to wiretape.
 *
 * @throws Error with a message for the user
 */
export async function askToAct(path: string, body?: unknown, signal?: AbortSignal): Promise<unknown> {
  const whole = {
    method: 'POST',
    headers: { ...actingHeaders, 'content-type': 'application/json' },
    body: JSON.stringify(body),
    ...(signal && { signal }),
  }
  const response = await door.fetch(path, body === undefined ? { headers: actingHeaders } : whole)
  if (!response.ok) throw new Error((await response.text()).trim())
  return response.json()
}

export async function readLines(
  stream: ReadableStream<Uint8Array>,
  take: (line: string) => void,
): Promise<void> {
  const decoder = new TextDecoder()
  let rest = ''
  const reader = stream.getReader()
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    const lines = (rest + decoder.decode(value, { stream: true })).split('\n')
    rest = lines.pop()!
    for (const line of lines) if (line !== '') take(line)
  }
}
