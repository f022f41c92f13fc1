import { readFrame, type FrameText } from '../wire/index.js'

const lenient = new TextDecoder('utf-8', { ignoreBOM: true })
const byteOrderMark = '\uFEFF'

/**
 * Why a possible message was forwarded without inspection. Undefined for an inspected frame, and for one that no
 * receiver takes for JSON-RPC.
 *
 * @param frame the parsed frame, if it was parsed
 */
export function whyUnread(bytes: Uint8Array, frame: FrameText | undefined): string | undefined {
  if (frame) return isTooLong(frame) ? tooLong : undefined
  const text = lenient.decode(bytes)
  if (!text.includes('"jsonrpc"')) return undefined
  const marked = text.startsWith(byteOrderMark)
  const read = readFrame(marked ? text.slice(1) : text)
  if (!read) return undefined
  if (marked) return 'text after a byte order mark'
  return isTooLong(read) ? tooLong : 'text that is not UTF-8'
}

const tooLong = 'a batch of more than 10,000 messages'

/** A batch above the limit is read as a single part. */
function isTooLong({ batch, parts }: FrameText): boolean {
  return batch && parts[0]!.start === 0
}
