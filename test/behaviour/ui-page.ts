/** Requests to `wiretape ui` as its page sends them, without a browser. */
import { type Actor, cli, type Stage, viewerAddress } from './stage.js'

export interface UiPage {
  readonly actor: Actor
  /** Sends a request with the headers of the page; with a body, a POST. */
  ask(path: string, body?: unknown): Promise<{ readonly status: number; readonly text: string }>
  /** As `ask`; throws unless the response is JSON. */
  get<T>(path: string, body?: unknown): Promise<T>
  close(): Promise<void>
}

export async function openUi(stage: Stage, args: readonly string[] = []): Promise<UiPage> {
  const actor = stage.start([process.execPath, cli, 'ui', '--no-open', ...args])
  const { origin, hash } = new URL(await viewerAddress(actor))
  const once = { authorization: `Once ${hash.replace('#once=', '')}` }
  const { token } = (await (await fetch(`${origin}/api/token`, { headers: once })).json()) as {
    readonly token: string
  }
  const headers = {
    authorization: `Bearer ${token}`,
    origin,
    'x-wiretape-act': '1',
    'content-type': 'application/json',
  }
  const ask: UiPage['ask'] = async (path, body) => {
    const posted = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }
    const response = await fetch(`${origin}${path}`, { headers, ...posted })
    return { status: response.status, text: await response.text() }
  }
  return {
    actor,
    ask,
    async get<T>(path: string, body?: unknown) {
      return JSON.parse((await ask(path, body)).text) as T
    },
    async close() {
      actor.child.kill('SIGTERM')
      await actor.ended
    },
  }
}
