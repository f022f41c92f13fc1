import { WiretapeError } from '../../model/index.js'
import type { Discovery } from './discovery.js'
import type { SourceMessage } from './source-message.js'

/** A line, entry or element of a transcript, with the messages that it holds. */
export interface SourceItem {
  /** 1-based: what the importer's errors call it. */
  readonly number: number
  readonly messages: readonly SourceMessage[]
  /** Why the file is refused over it, once all of the document was looked at. */
  readonly refusal?: Refusal
  readonly discovery?: Discovery | undefined
  /** It holds something that is no message: what, in words for a person. */
  readonly passedOver?: PassedOver
}

export interface PassedOver {
  /** Counted under this. */
  readonly what: string
  /** Not as the recorder meant it: told one by one. */
  readonly problem?: string
  /** It is known, and by its nature no message. */
  readonly isKnown: boolean
}

export interface SourceOptions {
  /** The text was looked at before and is good. */
  readonly checked: boolean
  /** Takes what is odd, but no reason to refuse. */
  readonly note: (message: string) => void
}

/** Reads one of the transcript formats. */
export interface TranscriptSource {
  /** One document: whether it is one at all comes before what its entries are. */
  readonly isWhole: boolean
  /** Its items have an envelope: one that holds no message is understood too. */
  readonly isEnveloped: boolean
  /**
   * @throws WiretapeError when what is read is no such document
   */
  items(bytes: AsyncIterable<Uint8Array>, options: SourceOptions): AsyncIterable<SourceItem>
}

/** Why a file is refused, in the documented words: what failed, and of some what it failed over. */
export type Refusal = string | readonly [string, string]

/** The file is refused. What importers print as causes is the chain of its `cause`. */
export function refused(refusal: Refusal): WiretapeError {
  const causes = typeof refusal === 'string' ? [refusal] : refusal
  let cause: Error | undefined
  for (const message of causes.toReversed()) {
    cause = new Error(message, cause === undefined ? undefined : { cause })
  }
  const message = `failed to parse MCP transcript: ${causes.join(': ')}`
  return new WiretapeError('not-a-recording', message, { cause })
}
