import { JsonObject } from '../../wire/index.js'
import type { ToldMessage } from '../told/told.js'
import { boundedText, type Attributes } from './telemetry.js'

/** Maximum number of characters of a payload; longer ones are truncated. */
const longestPayload = 64 * 1024
/** Characters of request payloads that may wait for responses. */
const mostWaiting = 16 * 1024 * 1024

/** Payloads as attributes, opt-in. */
export interface Payloads {
  /** For a request or notification. */
  asked(message: ToldMessage): Attributes
  answered(message: ToldMessage, method: string | undefined): Attributes
  /** Releases attributes of a completed request. */
  release(attributes: Attributes): void
}

/** Tool calls have their own attributes; others get those of OpenInference, which Phoenix and Langfuse show. */
export function createPayloads(lost: (what: string) => void): Payloads {
  let waiting = 0

  function attributesOf(json: string | undefined, key: string, mime?: string): Attributes {
    if (json === undefined) return []
    if (json.length > longestPayload) lost(`payloads are truncated to ${longestPayload} characters`)
    const value = boundedText(json, longestPayload)
    return mime === undefined
      ? [[key, value]]
      : [
          [key, value],
          [mime, 'application/json'],
        ]
  }

  return {
    asked({ part: { envelope }, text }) {
      const { method, argumentsText } = envelope
      const attributes =
        method === 'tools/call'
          ? attributesOf(argumentsText, 'gen_ai.tool.call.arguments')
          : attributesOf(new JsonObject(text, 0).raw('params'), 'input.value', 'input.mime_type')
      const size = sizeOf(attributes)
      if (waiting + size > mostWaiting) {
        lost('payloads of requests are left out, since too many requests are open')
        return []
      }
      waiting += size
      return attributes
    },
    answered({ part: { envelope }, text }, method) {
      const message = new JsonObject(text, 0)
      if (envelope.kind === 'result' && method === 'tools/call')
        return attributesOf(message.raw('result'), 'gen_ai.tool.call.result')
      return attributesOf(message.raw('result') ?? message.raw('error'), 'output.value', 'output.mime_type')
    },
    release: (attributes) => void (waiting -= sizeOf(attributes)),
  }
}

function sizeOf(attributes: Attributes): number {
  return attributes.reduce((sum, [, value]) => sum + String(value).length, 0)
}
