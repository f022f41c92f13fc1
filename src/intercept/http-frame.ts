import { isAnswer } from '../model/index.js'
import { idKey, isSpoken, readFrame, readParts, type FrameText } from '../wire/index.js'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The messages of a body. Undefined if it is not JSON-RPC: such a body is not recorded as a message. */
export function frameOf(body: Uint8Array): FrameText | undefined {
  try {
    return readSpoken(decoder.decode(body))
  } catch {
    return undefined
  }
}

/** As `frameOf`, for a text. */
export function readSpoken(text: string): FrameText | undefined {
  const frame = readFrame(text)
  return frame && isSpoken(frame) ? frame : undefined
}

/**
 * Error responses to a frame's requests, or to the requests that its responses belong to.
 *
 * @param but messages already handled: those of the frame, or JSON texts of responses
 */
export function refusalsOf(
  frame: FrameText,
  of: 'requests' | 'answers',
  why: string,
  but: readonly (FrameText | readonly string[])[] = [],
): string[] {
  const waits = ({ envelope }: FrameText['parts'][number]): boolean =>
    of === 'answers' ? isAnswer(envelope) : envelope.kind === 'request'
  const taken = new Set(
    but.flatMap((what) =>
      idsIn('parts' in what ? what.parts.filter(waits) : what.flatMap((t) => readParts(t).parts)),
    ),
  )
  const message = JSON.stringify(`wiretape: dropped: ${why}`)
  return frame.parts
    .filter(waits)
    .flatMap(({ envelope }) =>
      envelope.id !== undefined && !taken.has(idKey(envelope.id))
        ? [`{"jsonrpc":"2.0","id":${envelope.id},"error":{"code":-32000,"message":${message}}}`]
        : [],
    )
}

function idsIn(parts: FrameText['parts']): string[] {
  return parts.flatMap(({ envelope }) => (envelope.id === undefined ? [] : [idKey(envelope.id)]))
}

/** The text of a batch with messages appended. */
export function withAnswers(batch: string, texts: readonly string[]): string {
  if (texts.length === 0) return batch
  return `${batch.slice(0, batch.lastIndexOf(']'))},${texts.join(',')}]`
}
