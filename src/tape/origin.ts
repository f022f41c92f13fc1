import { timingSafeEqual } from 'node:crypto'
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'

/** Parts of a recording that identify its server. */
export interface Origin {
  /** UUID of the session. */
  readonly session: string
  readonly command: readonly string[]
  readonly url: string | null
}

/**
 * Proves the recorder of a session, and that its command and URL are unchanged: HMAC-SHA256 as hexadecimal digits. Not by
 * `node:crypto`: loading it takes 6 to 12 ms, and a recorder needs this before its server's start.
 *
 * @param key of the data folder, as hexadecimal digits
 */
export function originOf(key: string, { session, command, url }: Origin): string {
  const facts = Buffer.from(JSON.stringify([session, command, url]))
  return Buffer.from(hmac(sha256, Buffer.from(key, 'hex'), facts)).toString('hex')
}

/** Whether the holder of this key made the recording. */
export function isOrigin(key: string, origin: Origin, given: string | undefined): boolean {
  const [known, claimed] = [Buffer.from(originOf(key, origin)), Buffer.from(given ?? '')]
  return known.length === claimed.length && timingSafeEqual(known, claimed)
}
