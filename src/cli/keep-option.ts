import { parseDuration, parseSizeBytes } from '../model/index.js'

/** Limits of a label's recordings. */
export interface Keep {
  readonly ageMs: number
  readonly sizeBytes: number
}

/**
 * `30d,2GB`, in either order, or one of both.
 *
 * @throws Error with a sentence for a person
 */
export function parseKeep(text: string): Keep {
  const keep = { ageMs: Infinity, sizeBytes: Infinity }
  for (const part of text.split(',')) {
    const sizeBytes = parseSizeBytes(part.trim())
    const ageMs = sizeBytes === undefined ? parseDuration(part.trim()) : undefined
    if (sizeBytes !== undefined) keep.sizeBytes = sizeBytes
    else if (ageMs !== undefined && ageMs >= 60_000) keep.ageMs = ageMs
    else throw new Error('Use an age, a size or both, such as 30d,2GB.')
  }
  return keep
}

/**
 * `30d`: an age with its unit, of a minute or more.
 *
 * @throws Error with a sentence for a person
 */
export function parseAge(text: string): number {
  const ageMs = /[a-z]$/.test(text) ? parseDuration(text) : undefined
  if (ageMs !== undefined && ageMs >= 60_000) return ageMs
  throw new Error('Use an age such as 30d or 12h.')
}

/**
 * `5GB`: a size with its unit.
 *
 * @throws Error with a sentence for a person
 */
export function parseKeepSize(text: string): number {
  const sizeBytes = parseSizeBytes(text)
  if (sizeBytes !== undefined) return sizeBytes
  throw new Error('Use a size such as 5GB or 500MB.')
}
