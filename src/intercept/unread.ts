import { readFrame, type FrameText } from '../wire/index.js'

const lenient = new TextDecoder('utf-8', { ignoreBOM: true })
const byteOrderMark = '\uFEFF'

/**
 * Why a frame that its receiver may take for a message was not looked at here. Undefined for what was, and for what is
 * no JSON-RPC to anybody.
 *
 * @param frame what was read of it
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

/** Such a batch is one part: all of it. */
function isTooLong({ batch, parts }: FrameText): boolean {
  return batch && parts[0]!.start === 0
}
