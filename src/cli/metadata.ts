import type { JsonMembers } from '../model/index.js'

/** Metadata to add to a recording. */
export interface MetadataOptions {
  readonly target?: string
  readonly note?: readonly string[]
  readonly meta?: readonly (readonly [string, string])[]
}

/** Member for notes in a session file's metadata: one string, one line per note. */
export const notesName = 'notes'

/** Uses the names of the session file's metadata. */
export function metadataOf(options: MetadataOptions): JsonMembers {
  const pairs: [string, string][] = []
  if (options.target !== undefined) pairs.push(['target', options.target])
  if (options.note !== undefined) pairs.push([notesName, options.note.join('\n')])
  for (const [key, value] of options.meta ?? []) pairs.push([key, value])
  return pairs.map(([key, value]) => [key, JSON.stringify(value)] as const)
}
