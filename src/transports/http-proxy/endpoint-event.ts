import type { BodyChange } from './body-flow.js'
import { movedOrigin } from './moved-origin.js'

/** Longer than any origin, in characters. */
const longestOrigin = 300
const partOfOrigin = /^(h|ht|htt|https?|https?:|https?:\/|https?:\/\/[^/?#\s\\@]*)$/i
const lineEnd = /[\r\n]/

/**
 * The first event of the HTTP+SSE transport (2024-11-05) names the endpoint for POST. Clients refuse an
 * absolute URL on an origin other than the one they connected to. This replaces `from` in that URL with `to`.
 * All bytes pass at once, except those that may be the origin. Comments, and fields before the event's name,
 * are skipped; any other first event ends the search.
 *
 * @param prefix inserted before an endpoint that is only a path; `to` already contains it
 */
export function createEndpointMove(from: string, to: string, prefix = ''): BodyChange {
  let searching = true
  let isEndpoint = false
  /** The current line so far. */
  let line = ''
  /** Last forwarded character: a line feed after a carriage return does not end another line. */
  let previous = ''
  /** Held back: the beginning of the value of `data`. Undefined outside of it. */
  let origin: string | undefined

  /** Takes the next character. Returns the characters to forward instead. */
  function take(character: string): string {
    if (origin !== undefined) {
      const longer = origin + character
      if (origin === '' && character === '/') return prefix + release(false) + character
      if (origin === '' && character === ' ' && line === 'data:') return keep(character)
      if (partOfOrigin.test(longer) && longer.length <= longestOrigin) {
        origin = longer
        return ''
      }
      return release(/[/?#\r\n]/.test(character)) + character
    }
    if (character === '\n' && previous === '\r') previous = ''
    else if (lineEnd.test(character)) endLine(character)
    else keep(character)
    return character
  }

  function keep(character: string): string {
    previous = character
    if (line.length < 32) line += character
    if (isEndpoint && line === 'data:') origin = ''
    return character
  }

  function endLine(character: string): void {
    previous = character
    const field = line.replace(/^\u00ef\u00bb\u00bf/, '')
    line = ''
    if (/^event: ?endpoint$/.test(field)) isEndpoint = true
    else if (field === '' && isEndpoint) searching = false
    else if (field !== '' && !/^(:|id$|id:|retry$|retry:)/.test(field)) searching = false
  }

  /** Ends the search. @param whole whether the held characters are a complete origin */
  function release(whole: boolean): string {
    const held = origin ?? ''
    origin = undefined
    searching = false
    return (whole ? movedOrigin(held, from, to) : undefined) ?? held
  }

  return {
    push(chunk) {
      if (!searching) return chunk
      const passed: string[] = []
      let n = 0
      for (; n < chunk.length && searching; n += 1) passed.push(take(String.fromCharCode(chunk[n]!)))
      return Buffer.concat([Buffer.from(passed.join(''), 'latin1'), chunk.subarray(n)])
    },
    end: () => Buffer.from(release(false), 'latin1'),
  }
}
