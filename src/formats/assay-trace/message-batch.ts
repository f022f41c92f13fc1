import { inBatches, mapped } from '../iterate.js'
import { linesSource } from './lines-source.js'
import type { Meaning, Stamp } from './meaning.js'
import { readTranscriptMessage, type TranscriptMessage } from './message.js'
import type { Profile } from './profile.js'
import { Irregular, type SourceItem } from './source.js'
import type { Side } from './source-message.js'

/** Messages as columns, which move between threads faster than objects. */
export interface MessageBatch {
  /** Bytes of the file that were read for them. */
  readonly length: number
  readonly numbers: number[]
  readonly meanings: Meaning[]
  readonly sides: (Side | undefined)[]
  readonly ids: (string | undefined)[]
  /** The ids, unless given. */
  readonly keys: (string | undefined)[] | undefined
  readonly stamps: (Stamp | undefined)[]
  readonly serversMethods: (string | undefined)[]
  readonly tools: string[]
  readonly understood: boolean[]
  /** The payload of a call or its response, the tools of a list. */
  readonly texts: string[]
}

/**
 * Reads and checks the messages of a file of lines.
 *
 * @throws for a file that needs a report, with any error; `importInto` then reads it itself
 */
export async function* readMessageBatches(
  bytes: AsyncIterable<Uint8Array>,
  profile: Profile,
): AsyncGenerator<MessageBatch, void, undefined> {
  let length = 0
  const counted = mapped(bytes, (chunk) => {
    length += chunk.length
    return chunk
  })
  const note = (): never => {
    throw new Irregular()
  }
  for await (const items of inBatches(linesSource(profile).items(counted, { checked: false, note }))) {
    yield { ...columnsOf(items, profile), length }
    length = 0
  }
}

function columnsOf(items: Iterable<SourceItem>, profile: Profile): Omit<MessageBatch, 'length'> {
  const columns: Omit<MessageBatch, 'length'> = {
    numbers: [],
    meanings: [],
    sides: [],
    ids: [],
    keys: profile === 'strict' ? [] : undefined,
    stamps: [],
    serversMethods: [],
    tools: [],
    understood: [],
    texts: [],
  }
  for (const { number, messages } of items) {
    const message = readTranscriptMessage(messages[0]!, number, profile)
    if ('refusal' in message) throw new Irregular()
    columns.numbers.push(number)
    columns.meanings.push(message.meaning)
    columns.sides.push(message.side)
    columns.ids.push(message.id)
    columns.keys?.push(message.key)
    columns.stamps.push(message.stamp)
    columns.serversMethods.push(message.serversMethod)
    columns.tools.push(message.tool)
    columns.understood.push(message.isUnderstood)
    columns.texts.push(textOf(message))
  }
  return columns
}

function textOf(message: TranscriptMessage): string {
  const { meaning } = message
  if (meaning === 'tools') return message.toolList()
  return meaning === 'call' || meaning === 'result' || meaning === 'error' ? message.payload() : ''
}

/** The messages of a batch, and the numbers of their lines. */
export function* messagesIn(
  batch: MessageBatch,
): Generator<{ readonly message: TranscriptMessage; readonly number: number }> {
  const { ids, keys = ids, texts } = batch
  for (const [i, number] of batch.numbers.entries()) {
    const text = texts[i]!
    const message: TranscriptMessage = {
      meaning: batch.meanings[i]!,
      id: ids[i],
      key: keys[i],
      stamp: batch.stamps[i],
      side: batch.sides[i],
      serversMethod: batch.serversMethods[i],
      tool: batch.tools[i]!,
      isUnderstood: batch.understood[i]!,
      payload: () => text,
      toolList: () => text,
    }
    yield { message, number }
  }
}
