import type { Envelope, HttpHeaders } from '../model/index.js'
import { createMirroredHeaders, headerFault, type MirroredHeaders } from '../link/index.js'

/** Finds out whether a recorded server checked the headers that repeat parts of a request (2026-07-28). */
export interface HeaderWitness {
  /** A request of the modern era. @returns whether its headers differ from its body */
  asked(headers: HttpHeaders, text: string, envelope: Envelope): boolean
  /** A result for such a request. */
  answered(text: string, envelope: Envelope, hadFault: boolean): void
  /** Required values of such headers; undefined where the server did not check them, or is of another era. */
  rules(): MirroredHeaders | undefined
}

export function createHeaderWitness(): HeaderWitness {
  const mirrored = createMirroredHeaders()
  let isModern = false
  let isLenient = false
  return {
    asked(headers, text, envelope) {
      const given = Object.fromEntries(headers.map(([name, value]) => [name.toLowerCase(), value]))
      return headerFault(given, { text, envelope }, mirrored) !== undefined
    },
    answered(text, envelope, hadFault) {
      isModern = true
      isLenient ||= hadFault
      if (text.includes('x-mcp-header')) mirrored.learn({ text, envelope })
    },
    rules: () => (isModern && !isLenient ? mirrored : undefined),
  }
}
