import type { Readable, Writable } from 'node:stream'
import type { Recording } from '../formats/index.js'
import { WiretapeError } from '../model/index.js'
import { createConversation, type Conversation, type Fallback, type Sink } from './conversation.js'
import type { Miss } from './miss.js'
import { parsePace } from './pace.js'
import { readPlay, type Play } from './read-script.js'
import { serveStream } from './serve-stream.js'

/** How a recorded server plays its part. */
export interface PlayOptions {
  /** A call beyond the recorded ones gets the last recorded answer again; otherwise it is a miss. @default false */
  readonly repeatLast?: boolean
  /** `fast`: everything at once; `recorded`: with the recorded waits; `4x`: four times faster. @default 'fast' */
  readonly pace?: string
  /** A call that the recording has no answer to. */
  onMiss?(miss: Miss): void
  /** What a person should read, in one line. */
  onNotice?(line: string): void
}

/** A recording that can be served to any number of clients. */
export interface Stage {
  readonly play: Play
  /** A new client has come. It follows the next recorded conversation. */
  open(standalone: Sink, fallback?: Fallback): Conversation
  readonly counts: { served: number; missed: number }
}

/**
 * Reads a recording so that it can be served.
 *
 * @param name what the user calls it
 * @throws WiretapeError `usage` for a pace that is none and for a recording of one side only
 */
export async function prepareStage(
  recording: Recording,
  name: string,
  options: PlayOptions & { readonly askAlways?: boolean },
): Promise<Stage> {
  const pace = parsePace(options.pace ?? 'fast')
  if (!pace) {
    throw new WiretapeError('usage', `--pace ${options.pace} is no pace`, {
      hint: 'it is fast, recorded, or how many times faster than recorded, such as 4x',
    })
  }
  const play = await readPlay(recording)
  const missing = play.counts.client === 0 ? 'a client' : play.counts.server === 0 ? 'a server' : undefined
  if (missing !== undefined) {
    play.close()
    throw new WiretapeError('usage', `${name} has no message of ${missing}, so there is nothing to serve`, {
      hint: 'record a whole conversation',
    })
  }
  const counts = { served: 0, missed: 0 }
  let opened = 0
  return {
    play,
    counts,
    open(standalone, fallback) {
      const recorded = play.openings[opened % Math.max(1, play.openings.length)] ?? 0
      opened += 1
      return createConversation({
        play,
        recorded,
        pace,
        standalone,
        fallback,
        askAlways: options.askAlways ?? false,
        repeatLast: options.repeatLast ?? false,
        onServed: () => void (counts.served += 1),
        onMiss(miss) {
          counts.missed += 1
          options.onMiss?.(miss)
        },
      })
    },
  }
}

/** Serves one client on two streams. */
export function serveOnStreams(
  stage: Stage,
  streams: { readonly input: Readable; readonly output: Writable },
  options: PlayOptions,
  fallback?: Fallback,
): ReturnType<typeof serveStream> {
  return serveStream({
    ...streams,
    open: (standalone) => stage.open(standalone, fallback),
    onNotice: (line) => options.onNotice?.(line),
  })
}
