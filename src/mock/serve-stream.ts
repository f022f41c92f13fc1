import type { Readable, Writable } from 'node:stream'
import { createLineFramer, type LineFrame } from '../wire/index.js'
import type { Conversation } from './conversation.js'
import type { Outgoing, Sink } from './sink.js'

/** What a stream needs of a conversation. */
export type StreamTalk = Pick<Conversation, 'start' | 'take' | 'ready' | 'end' | 'close'>

export interface StreamOptions {
  readonly input: Readable
  readonly output: Writable
  /** Makes the conversation for the one client that these streams have. */
  readonly open: (standalone: Sink) => StreamTalk
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
  const lines = createLineSink(output)
  const conversation = open(lines.sink)
  const framer = createLineFramer()
  const utf8 = new TextDecoder('utf-8', { ignoreBOM: true })
  let closing: Promise<void> | undefined

  function take(frame: LineFrame): void {
    if (frame.kind === 'piece') {
      if (frame.last) notice('the client sent a line of more than 64 MiB, which was passed over')
      return
    }
    const text = utf8.decode(frame.bytes)
    if (text.trim() === '') return
    if (!conversation.take(text)) notice(`the client sent a line that is not JSON: ${text.slice(0, 80)}`)
  }

  async function read(): Promise<void> {
    conversation.start()
    try {
      for await (const chunk of input) {
        for (const frame of framer.push(chunk as Buffer)) take(frame)
        // A client that reads no answers may ask nothing more.
        await lines.drained()
        await conversation.ready()
        if (lines.gone()) break
      }
    } catch {
      // Its side broke, or we have closed it: either way it says nothing more.
    }
    for (const frame of framer.end()) take(frame)
    if (!lines.gone()) await conversation.end()
    await conversation.close()
  }

  output.once('close', () => input.destroy())
  return {
    ended: read(),
    close: () =>
      (closing ??= (async () => {
        input.destroy()
        // A client that reads nothing is not waited for.
        lines.hurry()
        await conversation.close()
      })()),
  }
}

interface LineSink {
  readonly sink: Sink
  drained(): Promise<void>
  gone(): boolean
  /** From now on nobody waits until the client has read. */
  hurry(): void
}

function createLineSink(output: Writable): LineSink {
  let gone = false
  let hurried = false
  const waiting: (() => void)[] = []
  const wake = (): void => {
    for (const goOn of waiting.splice(0)) goOn()
  }
  const leave = (): void => {
    gone = true
    wake()
  }
  output.on('drain', wake)
  output.on('error', leave)
  output.on('close', leave)

  function drained(): Promise<void> {
    if (gone || hurried || !output.writableNeedDrain) return Promise.resolve()
    return new Promise((resolve) => waiting.push(resolve))
  }

  return {
    sink: {
      isOpen: true,
      send({ text }: Outgoing) {
        if (gone) return Promise.resolve()
        return output.write(`${text}\n`) ? Promise.resolve() : drained()
      },
      // What was said before still goes out.
      cut: () => void (output.writableLength > 0 ? output.end() : output.destroy()),
    },
    drained,
    gone: () => gone,
    hurry() {
      hurried = true
      wake()
    },
  }
}
