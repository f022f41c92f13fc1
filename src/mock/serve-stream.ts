import type { Readable, Writable } from 'node:stream'
import type { Conversation } from './conversation.js'
import { StdioServerLink, type ServerLink } from '../link/index.js'

/** The part of a conversation that a stream needs. */
export type StreamTalk = Pick<Conversation, 'start' | 'take' | 'ready' | 'end' | 'close'>

export interface StreamOptions {
  readonly input: Readable
  readonly output: Writable
  /** Creates the conversation for the only client of these streams. */
  readonly open: (standalone: ServerLink) => StreamTalk
  /** A problem in the client's input, in one line. */
  readonly notice: (line: string) => void
}

/** One client on a pair of streams, one message per line. */
export interface ServedStream {
  /** Resolves when the client has closed its side or left, and everything was sent. */
  readonly ended: Promise<void>
  /** Stops immediately. Can be called twice. */
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
    if (text === undefined) notice('the client sent a line of more than 64 MiB, which was skipped')
    else if (!conversation.take(text)) notice(`the client sent a line that is not JSON: ${text.slice(0, 80)}`)
  }

  async function read(): Promise<void> {
    conversation.start()
    for await (const lines of client.chunks()) {
      for (const { text } of lines) take(text)
      // A client that reads no responses may send nothing more.
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
