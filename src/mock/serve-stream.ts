import type { Readable, Writable } from 'node:stream'
import type { Conversation } from './conversation.js'
import { StdioServerLink, type ServerLink } from '../link/index.js'

/** What a stream needs of a conversation. */
export type StreamTalk = Pick<Conversation, 'start' | 'take' | 'ready' | 'end' | 'close'>

export interface StreamOptions {
  readonly input: Readable
  readonly output: Writable
  /** Makes the conversation for the one client that these streams have. */
  readonly open: (standalone: ServerLink) => StreamTalk
  /** Something is wrong with what the client sent, in one line. */
  readonly notice: (line: string) => void
}

/** One client on a pair of streams, one message a line. */
export interface ServedStream {
  /** Resolves when the client has closed its side or left, and all is said. */
  readonly ended: Promise<void>
  /** Stops at once. Can be called twice. */
  close(): Promise<void>
}

export function serveStream({ input, output, open, notice }: StreamOptions): ServedStream {
  const client = new StdioServerLink(input, output)
  const conversation = open({
    isOpen: true,
    send: ({ text }) => client.send(text),
    cut: () => client.cut(),
  })
  let closing: Promise<void> | undefined

  function take(text: string | undefined): void {
    if (text === undefined) notice('the client sent a line of more than 64 MiB, which was passed over')
    else if (!conversation.take(text)) notice(`the client sent a line that is not JSON: ${text.slice(0, 80)}`)
  }

  async function read(): Promise<void> {
    conversation.start()
    for await (const lines of client.chunks()) {
      for (const { text } of lines) take(text)
      // A client that reads no answers may ask nothing more.
      await client.drained()
      await conversation.ready()
      if (client.isGone) break
    }
    if (!client.isGone) await conversation.end()
    await conversation.close()
  }

  async function stop(): Promise<void> {
    client.close()
    await conversation.close()
  }

  return { ended: read(), close: () => (closing ??= stop()) }
}
