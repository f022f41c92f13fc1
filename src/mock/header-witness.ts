import type { Envelope, HttpHeaders } from '../model/index.js'
import { createMirroredHeaders, headerFault, type MirroredHeaders } from '../link/index.js'

/** Finds out whether a recorded server looked at the headers that say again what a request says (2026-07-28). */
export interface HeaderWitness {
  /** A request of the modern era. @returns whether its headers differ from its body */
  asked(headers: HttpHeaders, text: string, envelope: Envelope): boolean
  /** A result of such a request. */
  answered(text: string, envelope: Envelope, hadFault: boolean): void
  /** What such headers have to say; undefined where the server did not look at them, or is of another era. */
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
