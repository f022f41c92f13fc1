import type { Writable } from 'node:stream'
import type { Recording } from '../../formats/index.js'
import type { Fallback } from './contract.js'
import type { Play } from '../play.js'
import type { FallbackPlace } from '../stage.js'
import { createFallback } from './fallback.js'
import { createTapeCopy } from './tape-copy.js'

export interface FallbacksOptions {
  readonly command: readonly string[]
  readonly notice: (line: string) => void
  readonly errorOutput: Writable | undefined
  readonly recording: Recording
  readonly record: { readonly what: 'new' | 'all'; readonly out: string } | undefined
}

/** The real servers of a mock, one for each conversation that needs one, and the copy with their responses. */
export interface Fallbacks {
  readonly open: (place: FallbackPlace) => Fallback
  /** Writes the copy. Call it after the conversations have closed theirs. */
  close(play: Play): Promise<void>
}

export function createFallbacks({
  command,
  notice,
  errorOutput,
  recording,
  record,
}: FallbacksOptions): Fallbacks {
  const copy = record && createTapeCopy(recording, record.out, record.what)
  return {
    open: (place) =>
      createFallback({
        ...place,
        command,
        notice,
        errorOutput: errorOutput ?? process.stderr,
        witness: copy?.witness(place.play, place.recorded),
      }),
    close: async (play) => copy?.write(play),
  }
}
