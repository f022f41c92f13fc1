import { timingSafeEqual } from 'node:crypto'
import { hmacSha256 } from './hmac.js'

/** Parts of a recording that identify its server. */
export interface Origin {
  /** UUID of the session. */
  readonly session: string
  readonly command: readonly string[]
  readonly url: string | null
}

/**
 * Proves the recorder of a session, and that its command and URL are unchanged: HMAC-SHA256 as hexadecimal digits.
 *
 * @param key of the data folder, as hexadecimal digits
 */
export function originOf(key: string, { session, command, url }: Origin): string {
  return hmacSha256(Buffer.from(key, 'hex'), JSON.stringify([session, command, url]))
}

/** Whether the holder of this key made the recording. */
export function isOrigin(key: string, origin: Origin, given: string | undefined): boolean {
  const [known, claimed] = [Buffer.from(originOf(key, origin)), Buffer.from(given ?? '')]
  return known.length === claimed.length && timingSafeEqual(known, claimed)
}
