import { isNamelessError } from '../../model/index.js'
import { JsonObject, messagesIn } from '../../wire/index.js'

/** An error without an id, as an error for the given request. Undefined for any other text. */
export function errorFor(id: string, text: string): string | undefined {
  const [message, ...others] = messagesIn(text) ?? []
  if (!message || !isNamelessError(message.envelope) || others.length > 0) return undefined
  return `{"jsonrpc":"2.0","id":${id},"error":${new JsonObject(message.text, 0).raw('error')}}`
}
