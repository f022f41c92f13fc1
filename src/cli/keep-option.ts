import { parseDuration } from '../model/index.js'

/** Which recordings of a label stay. */
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
    const sizeBytes = sizeOf(part.trim())
    const ageMs = sizeBytes === undefined ? parseDuration(part.trim()) : undefined
    if (sizeBytes !== undefined) keep.sizeBytes = sizeBytes
    else if (ageMs !== undefined && ageMs >= 60_000) keep.ageMs = ageMs
    else throw new Error('It is an age, a size or both, such as 30d,2GB.')
  }
  return keep
}

const units: Readonly<Record<string, number>> = { kb: 1e3, mb: 1e6, gb: 1e9, tb: 1e12 }

function sizeOf(text: string): number | undefined {
  const [, digits, unit = ''] = /^(\d{1,9})\s?([kmgt]b)$/i.exec(text) ?? []
  return digits === undefined ? undefined : Number(digits) * units[unit.toLowerCase()]!
}
