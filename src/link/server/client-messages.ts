import type { Readable } from 'node:stream'
import { createLineFramer, messagesIn, type Message } from '../../wire/index.js'
import type { Utf8Watch } from '../utf8-watch.js'

/** What a client on stdio says, message by message, in its order; `fault` is why a line is none. */
export async function* readClientMessages(
  input: Readable,
  watch: Utf8Watch,
): AsyncGenerator<Message | { readonly fault: string }> {
  const framer = createLineFramer()
  for await (const chunk of input) {
    for (const frame of framer.push(chunk as Buffer)) yield* messagesOf(frame, watch)
  }
  for (const frame of framer.end()) yield* messagesOf(frame, watch)
}

type Frame = ReturnType<ReturnType<typeof createLineFramer>['push']>[number]

function messagesOf(frame: Frame, watch: Utf8Watch): (Message | { fault: string })[] {
  if (frame.kind === 'piece') return frame.last ? [{ fault: 'a line of more than 64 MB' }] : []
  const text = Buffer.from(frame.bytes).toString('utf8')
  if (text.trim() === '') return []
  const messages = messagesIn(text)
  if (!messages) return [{ fault: 'the line is no JSON-RPC' }]
  watch(frame.bytes)
  return messages
}
