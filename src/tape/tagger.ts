import { createHmac, randomBytes } from 'node:crypto'

/** Hexadecimal digits of a tag. */
const tagLength = 16

/** Tells equal secrets, under a key that is made anew and never written anywhere: tags of two taggers have nothing in common. */
export function createTagger(): (secret: string) => string {
  const key = randomBytes(32)
  return (secret) => createHmac('sha256', key).update(secret).digest('hex').slice(0, tagLength)
}
