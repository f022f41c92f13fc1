import { createHmac, randomBytes } from 'node:crypto'

/** Hexadecimal digits of a tag. */
const tagLength = 16

/**
 * Computes equal tags for equal secrets. Tags of two taggers are unrelated, unless both have the same key.
 *
 * @param hexKey 32 bytes as hexadecimal digits. @default a new key, which is never stored
 */
export function createTagger(hexKey?: string): (secret: string) => string {
  const key = hexKey === undefined ? randomBytes(32) : Buffer.from(hexKey, 'hex')
  return (secret) => createHmac('sha256', key).update(secret).digest('hex').slice(0, tagLength)
}
