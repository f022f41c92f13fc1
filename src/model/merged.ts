import type { Transport } from './envelope.js'
import type { JsonMembers } from './record.js'

/** One of the recordings that were merged into one. Their conversations have its name, and what they were called. */
export interface MergedRecording {
  readonly conversation: string
  /** As the recording says it. */
  readonly startedAt: string | undefined
  readonly transport: Transport
  readonly url: string | null
  readonly command: readonly string[]
}

/** How a message came. */
export interface Origin {
  readonly transport: Transport
  readonly url: string | null
  /** Of a merged recording, what its part is called. */
  readonly label?: string
}

/**
 * What `convert A B OUT` says of the recordings that it merged, in the metadata of the result.
 *
 * @param json of the member `merged`
 * @returns undefined when it is something else
 */
export function readMerged(json: string): MergedRecording[] | undefined {
  const list = JSON.parse(json) as unknown
  if (!Array.isArray(list) || list.length === 0) return undefined
  const recordings: MergedRecording[] = []
  for (const one of list as unknown[]) {
    if (typeof one !== 'object' || one === null) return undefined
    const { conversation, startedAt, transport, url, command } = one as Record<string, unknown>
    if (typeof conversation !== 'string') return undefined
    recordings.push({
      conversation,
      startedAt: typeof startedAt === 'string' ? startedAt : undefined,
      transport: transport === 'streamable-http' || transport === 'sse' ? transport : 'stdio',
      url: typeof url === 'string' ? url : null,
      command: Array.isArray(command) ? command.filter((word) => typeof word === 'string') : [],
    })
  }
  return recordings
}

/** The recordings that a merged one was made of; undefined for one that was not merged. */
export function mergedIn(metadata: JsonMembers): MergedRecording[] | undefined {
  const json = metadata.find(([name]) => name === 'merged')?.[1]
  return json === undefined ? undefined : readMerged(json)
}

/** Finds out how messages came: in a merged recording that is another matter for each conversation. */
export function createOrigins(
  of: Origin & { readonly metadata?: JsonMembers },
): (conversation: string | undefined) => Origin {
  // The longest name first: one may begin as another one does.
  const merged = mergedIn(of.metadata ?? [])
    ?.map((one) => ({ ...one, label: one.conversation }))
    .toSorted((a, b) => b.label.length - a.label.length)
  if (!merged) return () => of
  return (conversation = '') =>
    merged.find(({ label }) => conversation === label || conversation.startsWith(`${label} `)) ?? of
}
