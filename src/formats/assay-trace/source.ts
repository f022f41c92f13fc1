import { WiretapeError } from '../../model/index.js'
import type { Discovery } from './discovery.js'
import type { SourceMessage } from './source-message.js'

/** A line, entry or element of a transcript, with its messages. */
export interface SourceItem {
  /** 1-based, as in the importer's errors. */
  readonly number: number
  readonly messages: readonly SourceMessage[]
  /** The reason why the file is refused, raised after the whole document was checked. */
  readonly refusal?: Refusal
  readonly discovery?: Discovery | undefined
  /** A description of skipped content that is no message, in words for a person. */
  readonly passedOver?: PassedOver
}

export interface PassedOver {
  /** Category for counting. */
  readonly what: string
  /** A deviation from the recorder's intent: reported individually. */
  readonly problem?: string
  /** A known kind that is no message by design. */
  readonly isKnown: boolean
}

export interface SourceOptions {
  /** The text was already checked and is valid. */
  readonly checked: boolean
  /** Receives oddities that are no reason to refuse the file. */
  readonly note: (message: string) => void
}

/** Reads one of the transcript formats. */
export interface TranscriptSource {
  /** One document: its validity as a whole is checked before its entries. */
  readonly isWhole: boolean
  /** Its items have an envelope: those without a message count as understood too. */
  readonly isEnveloped: boolean
  /** @throws WiretapeError when the input is no such document */
  items(bytes: AsyncIterable<Uint8Array>, options: SourceOptions): AsyncIterable<SourceItem>
}

/** The reason for a refusal, in the documented words: the failed operation, and for some its cause. */
export type Refusal = string | readonly [string, string]

/** The error for a refused file. Its chain of `cause` is what importers print as causes. */
export function refused(refusal: Refusal): WiretapeError {
  const causes = typeof refusal === 'string' ? [refusal] : refusal
  let cause: Error | undefined
  for (const message of causes.toReversed()) {
    cause = new Error(message, cause === undefined ? undefined : { cause })
  }
  const message = `failed to parse MCP transcript: ${causes.join(': ')}`
  return new WiretapeError('not-a-recording', message, { cause })
}

/** A transcript that needs more than one pass, or must be read by this thread. */
export class Irregular extends Error {}
