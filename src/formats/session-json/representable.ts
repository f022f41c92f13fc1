import { kindAt, memberOf, membersOf, readEnvelope } from '../../wire/index.js'

/** Nesting that every JSON reader in use follows; Python's gives up at about 1,000. */
const deepest = 500

/**
 * Whether a message can be the payload of a session file: one JSON-RPC 2.0 request, notification, result or
 * error as the format's own reader accepts it, which refuses a whole file for one that is not. Ids are
 * strings or integers, `params` and `result` objects, an error has an integer code and a message.
 */
export function isRepresentable(text: string): boolean {
  const { kind, id } = readEnvelope(text, 0)
  if (kind === 'invalid') return false
  if (kind === 'notification' ? id !== undefined : id === undefined) return false
  if (id !== undefined && !/^(?:"|-?\d{1,4000}$)/.test(id)) return false
  const members = membersOf(text, 0)
  const shapeOf = (name: string): string | undefined => {
    const member = memberOf(members, name)
    return member && kindAt(text, member.start)
  }
  const params = shapeOf('params')
  if (params !== undefined && params !== 'object' && params !== 'null') return false
  if (kind === 'result' && shapeOf('result') !== 'object') return false
  if (kind === 'error' && !isError(text, memberOf(members, 'error')!.start)) return false
  return !isTooDeep(text) && !hasLoneSurrogate(text)
}

function isError(text: string, start: number): boolean {
  const members = membersOf(text, start)
  const code = memberOf(members, 'code')
  const message = memberOf(members, 'message')
  return (
    code !== undefined &&
    message !== undefined &&
    /^-?\d{1,4000}$/.test(text.slice(code.start, Math.min(code.end, code.start + 4_002))) &&
    kindAt(text, message.start) === 'string'
  )
}

function isTooDeep(text: string): boolean {
  if (text.length <= 2 * deepest) return false
  let depth = 0
  let inString = false
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === 0x5c) at += 1
    else if (code === 0x22) inString = !inString
    else if (inString) continue
    else if (code === 0x7b || code === 0x5b) {
      depth += 1
      if (depth > deepest) return true
    } else if (code === 0x7d || code === 0x5d) depth -= 1
  }
  return false
}

/** An escape of half a character: legal JSON, and no text that can be written as UTF-8. */
function hasLoneSurrogate(text: string): boolean {
  if (!/\\u[dD][89a-fA-F]/.test(text)) return false
  let high = false
  for (let at = 0; at < text.length; at += 1) {
    if (text.charCodeAt(at) !== 0x5c) {
      if (high) return true
      continue
    }
    const unit = text.charAt(at + 1) === 'u' ? parseInt(text.slice(at + 2, at + 6), 16) : 0
    const isLow = unit >= 0xdc00 && unit <= 0xdfff
    if (isLow !== high) return true
    high = unit >= 0xd800 && unit <= 0xdbff
    at += text.charAt(at + 1) === 'u' ? 5 : 1
  }
  return high
}
