import type { Readable } from 'node:stream'
import { createLineFramer } from '../../wire/index.js'
import { messagesIn, type BridgedMessage } from './message-lines.js'

/** Longest line of a client. */
const longestLine = 64 * 1024 * 1024

/** What a client on stdio says, message by message, in its order; `fault` is why a line is none. */
export async function* readClientMessages(
  input: Readable,
): AsyncGenerator<BridgedMessage | { readonly fault: string }> {
  const framer = createLineFramer({ maxBytes: longestLine })
  for await (const chunk of input) {
    for (const frame of framer.push(chunk as Buffer)) yield* messagesOf(frame)
  }
  for (const frame of framer.end()) yield* messagesOf(frame)
}

type Frame = ReturnType<ReturnType<typeof createLineFramer>['push']>[number]

function messagesOf(frame: Frame): (BridgedMessage | { fault: string })[] {
  if (frame.kind === 'piece') return frame.last ? [{ fault: 'a line of more than 64 MB' }] : []
  const text = Buffer.from(frame.bytes).toString('utf8')
  if (text.trim() === '') return []
  return messagesIn(text) ?? [{ fault: 'the line is no JSON-RPC' }]
}
