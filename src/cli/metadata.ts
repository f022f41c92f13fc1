import type { JsonMembers } from '../model/index.js'

/** What a person can say about a recording. */
export interface MetadataOptions {
  readonly target?: string
  readonly note?: string
  readonly meta?: readonly (readonly [string, string])[]
}

/** The names are those of the session file's metadata. */
export function metadataOf(options: MetadataOptions): JsonMembers {
  const pairs: [string, string][] = []
  if (options.target !== undefined) pairs.push(['target', options.target])
  if (options.note !== undefined) pairs.push(['notes', options.note])
  for (const [key, value] of options.meta ?? []) pairs.push([key, value])
  return pairs.map(([key, value]) => [key, JSON.stringify(value)] as const)
}
