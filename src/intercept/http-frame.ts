import { isAnswer } from '../model/index.js'
import { speaksJsonRpc } from '../wire/index.js'
import { readFrame, type FrameText } from './frame.js'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** The messages of a body. Undefined for what is no JSON-RPC, which nobody records as a message. */
export function frameOf(body: Uint8Array): FrameText | undefined {
  try {
    return readSpoken(decoder.decode(body))
  } catch {
    return undefined
  }
}

/** The same of a text. */
export function readSpoken(text: string): FrameText | undefined {
  const frame = readFrame(text)
  return frame?.parts.some(({ start }) => speaksJsonRpc(frame.text, start)) ? frame : undefined
}

/** Errors for all that waits for an answer: the requests of a frame, or those that its answers belong to. */
export function refusalsOf(frame: FrameText, of: 'requests' | 'answers', why: string): string[] {
  const message = JSON.stringify(`wiretape: dropped: ${why}`)
  return frame.parts.flatMap(({ envelope }) =>
    envelope.id !== undefined && (of === 'answers' ? isAnswer(envelope) : envelope.kind === 'request')
      ? [`{"jsonrpc":"2.0","id":${envelope.id},"error":{"code":-32000,"message":${message}}}`]
      : [],
  )
}
