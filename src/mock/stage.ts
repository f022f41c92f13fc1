import type { Recording } from '../formats/index.js'
import type { Rules } from '../intercept/index.js'
import { WiretapeError, type Transport } from '../model/index.js'
import { createConversation, type Conversation } from './conversation.js'
import type { ServerLink } from '../link/index.js'
import type { Fallback } from './fallback/contract.js'
import type { Miss } from './miss.js'
import { parsePace } from './pace.js'
import type { Play } from './play.js'
import { readPlay } from './read-play.js'
import { openRuled } from './ruled-conversation.js'

export interface StageOptions {
  /** A call beyond the recorded ones gets the last recorded response again, else it is a miss. @default false */
  readonly repeatLast?: boolean
  /** `fast`, `recorded`, or a multiple of the recorded speed: `4x`. @default 'fast' */
  readonly pace?: string
  /** Rules applied to every message of either side: those in force when it comes. */
  readonly rules?: (() => Rules) | undefined
  /** A source of responses that the recording lacks, created for each conversation. */
  readonly fallback?: ((place: FallbackPlace) => Fallback) | undefined
  /** Every call that the fallback can answer goes to the fallback. @default false */
  readonly askAlways?: boolean
  readonly onMiss: (miss: Miss) => void
  readonly onNotice: (line: string) => void
}

/** The context of a fallback. */
export interface FallbackPlace {
  /** For messages that belong to no call. */
  readonly standalone: ServerLink
  readonly play: Play
  /** Number of the recorded conversation that the live one follows. */
  readonly recorded: number
}

/** A recording that can be served to any number of clients. */
export interface Stage {
  readonly play: Play
  readonly counts: { served: number; missed: number }
  readonly notice: (line: string) => void
  /** A client reached the point at which the recorded server ended. */
  readonly hasDied: boolean
  /** Opens a conversation for a new client. It follows the next recorded conversation. */
  open(standalone: ServerLink, transport: Transport): Conversation
}

/**
 * Reads a recording for serving.
 *
 * @param name the user's name for the recording
 * @throws WiretapeError `usage` for an invalid pace and for a recording of one side only
 */
export async function prepareStage(
  recording: Recording,
  name: string,
  options: StageOptions,
): Promise<Stage> {
  const pace = parsePace(options.pace ?? 'fast')
  if (!pace) {
    throw new WiretapeError('usage', `--pace ${options.pace} is not a pace`, {
      hint: 'use fast, recorded, or a factor such as 4x',
    })
  }
  const play = await readPlay(recording)
  const missing = play.counts.client === 0 ? 'client' : play.counts.server === 0 ? 'server' : undefined
  if (missing !== undefined) {
    play.close()
    throw new WiretapeError('usage', `${name} has no ${missing} message, so there is nothing to serve`, {
      hint: 'use a recording of a whole conversation',
    })
  }
  const { rules, fallback, onNotice: notice } = options
  const counts = { served: 0, missed: 0 }
  let opened = 0
  let hasDied = false

  function converse(standalone: ServerLink, recorded: number): Conversation {
    return createConversation({
      play,
      recorded,
      pace: pace!,
      standalone,
      fallback: fallback?.({ standalone, play, recorded }),
      askAlways: options.askAlways ?? false,
      repeatLast: options.repeatLast ?? false,
      onServed: () => void (counts.served += 1),
      onFault: notice,
      onDeath() {
        const { exitCode, signal } = play.death!
        const how = signal === undefined ? `exited with ${exitCode}` : `was ended by ${signal}`
        notice(`the recorded server ${how} here without a response; the mock does the same`)
        hasDied = true
      },
      onMiss(miss) {
        counts.missed += 1
        options.onMiss(miss)
      },
    })
  }

  return {
    play,
    counts,
    notice,
    get hasDied() {
      return hasDied
    },
    open(standalone, transport) {
      const recorded = play.openings[opened % Math.max(1, play.openings.length)] ?? 0
      opened += 1
      if (!rules) return converse(standalone, recorded)
      return openRuled((inner) => converse(inner, recorded), standalone, { rules, transport, notice })
    },
  }
}
