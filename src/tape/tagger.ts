import { createHmac, randomBytes } from 'node:crypto'

/** Hexadecimal digits of a tag. */
const tagLength = 16

/**
 * Tells equal secrets. Tags of two taggers have nothing in common, unless they are given the same key.
 *
 * @param hexKey 32 bytes as hexadecimal digits. @default made anew, and never written anywhere
 */
export function createTagger(hexKey?: string): (secret: string) => string {
  const key = hexKey === undefined ? randomBytes(32) : Buffer.from(hexKey, 'hex')
  return (secret) => createHmac('sha256', key).update(secret).digest('hex').slice(0, tagLength)
}
