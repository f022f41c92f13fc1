import { act, channel } from './state.js'
import { askServer, cancelInSession, serverSays, session, type Answer } from './session.js'
import { listIn, objectIn, textIn } from './values.js'

let made = 0

/** Key of a request from this page, for its progress and cancellation. */
export function newKey(): string {
  made += 1
  return `wiretape-ui-${Date.now().toString(36)}-${made}`
}

/**
 * Sends a request to the server: in the session of this page, or over the connection of the live client,
 * which sees neither the request nor its response.
 *
 * @param params exact JSON text of an object
 * @throws Error with a message for the user
 */
export async function ask(method: string, params: string, key = newKey()): Promise<Answer> {
  if (session.value) return askServer(key, method, params)
  const text = `{"jsonrpc":"2.0","id":${JSON.stringify(key)},"method":${JSON.stringify(method)},"params":${params}}`
  const result = await channel.value?.send({ type: 'inject', direction: 'client_to_server', text })
  if (result?.answer === undefined) throw new Error('no response')
  const { answer, latencyMs } = result
  return { answer, ...(latencyMs !== undefined && { latencyMs }) }
}

/** Cancels a request: notifies the server and stops waiting for the response. */
export async function cancel(key: string): Promise<void> {
  return session.value ? cancelInSession(key) : cancelInjected(key)
}

/** Cancels a request that was sent over the connection of the live client. @param conversation over HTTP */
export async function cancelInjected(key: string, conversation?: string): Promise<void> {
  const params = { requestId: key, reason: 'cancelled by the user' }
  const text = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params })
  const place = conversation === undefined ? {} : { conversation }
  await act({ type: 'inject', direction: 'client_to_server', text, ...place })
}

/** The result of a request as a value. @throws Error with the server's message */
export async function resultOf(method: string, params: unknown): Promise<unknown> {
  const { answer, error: failed } = await ask(method, JSON.stringify(params))
  if (answer === undefined) throw new Error(failed ?? 'no response')
  const { result, error } = JSON.parse(answer) as {
    readonly result?: unknown
    readonly error?: { readonly message?: unknown }
  }
  if (result === undefined)
    throw new Error(textIn(error?.message) || 'the server returned an error without a message')
  return result
}

/** Maximum number of pages read from a list. */
const mostPages = 50

/** All pages of a list of the server: its objects, whose members may be anything. @throws Error with the server's message */
export async function listOf<T>(method: string, member: string): Promise<T[]> {
  const all: T[] = []
  let cursor: string | undefined
  for (let page = 0; page < mostPages; page += 1) {
    const result = objectIn(await resultOf(method, cursor === undefined ? {} : { cursor }))
    const list = result[member]
    if (!Array.isArray(list)) throw new Error(`the server's response has no list "${member}"`)
    for (const one of list as unknown[]) if (typeof one === 'object' && one !== null) all.push(one as T)
    if (typeof result['nextCursor'] !== 'string') break
    cursor = result['nextCursor']
  }
  return all
}

/** Completions for an argument of a prompt or resource template. */
export async function complete(
  reference: unknown,
  name: string,
  value: string,
  others: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  if (session.value && serverSays.value.capabilities?.completions === undefined) return []
  try {
    const params = { ref: reference, argument: { name, value }, context: { arguments: others } }
    const { completion } = objectIn(await resultOf('completion/complete', params))
    return listIn(objectIn(completion)['values'])
      .filter((one) => typeof one === 'string')
      .slice(0, 100)
  } catch {
    // Servers without completion return an error.
    return []
  }
}
